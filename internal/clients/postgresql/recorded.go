package postgresql

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Recorded returns the names of the databases that are recorded for a holder in a control plane, sorted. It takes one statement and
// writes nothing. Without a registry there are none.
func (i *Instance) Recorded(ctx context.Context, controlPlane, holder string) ([]string, error) {
	var names []string
	err := i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) (err error) {
		names, err = rows(ctx, s, OpRead, "registry", `SELECT name FROM `+registryTable+`
			WHERE kind = 'database' AND control_plane = $1 AND holder = $2 ORDER BY name`, []any{controlPlane, holder}, pgx.RowTo[string])
		return err
	})
	if hasCode(err, "3D000", "42P01", "3F000") {
		return nil, nil
	}
	return names, err
}
