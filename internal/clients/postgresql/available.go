package postgresql

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// An AvailableExtension is one that the host has.
type AvailableExtension struct {
	Name string
	// Default version, and all that can be created directly.
	Default  string
	Versions []string
	// Superuser says that the default version can only be created by a superuser, unless Trusted says that an owner can.
	Superuser, Trusted bool
	// Schema that it insists on, usually empty.
	Schema string
	// Requires names the extensions that have to be there first.
	Requires []string
}

// AvailableExtensions returns those of the named extensions that the host has. One statement; nothing in a tenant's database.
func (i *Instance) AvailableExtensions(ctx context.Context, names []string) (map[string]AvailableExtension, error) {
	var out map[string]AvailableExtension
	read := func(s *session) (err error) {
		out, err = s.available(ctx, names)
		return err
	}
	err := i.with(ctx, management, i.cfg.RegistryDatabase, read)
	if hasCode(err, "3D000") {
		err = i.with(ctx, management, i.cfg.Database, read)
	}
	return out, err
}

func (s *session) available(ctx context.Context, names []string) (map[string]AvailableExtension, error) {
	list, err := rows(ctx, s, OpRead, "available extensions", `SELECT e.name, coalesce(e.default_version, ''), array_agg(v.version ORDER BY v.version),
		coalesce(bool_or(v.superuser) FILTER (WHERE v.version = e.default_version), false),
		coalesce(bool_or(v.trusted) FILTER (WHERE v.version = e.default_version), false),
		coalesce(max(v.schema) FILTER (WHERE v.version = e.default_version), ''),
		coalesce((array_agg(v.requires::text[]) FILTER (WHERE v.version = e.default_version AND v.requires IS NOT NULL))[1:1][:], '{}')
		FROM pg_available_extensions e JOIN pg_available_extension_versions v ON v.name = e.name
		WHERE e.name = ANY($1::text[]::name[]) GROUP BY e.name, e.default_version`, []any{names},
		func(row pgx.CollectableRow) (AvailableExtension, error) {
			a, requires := AvailableExtension{}, [][]string{}
			err := row.Scan(&a.Name, &a.Default, &a.Versions, &a.Superuser, &a.Trusted, &a.Schema, &requires)
			for _, r := range requires {
				a.Requires = append(a.Requires, r...)
			}
			return a, err
		})
	out := map[string]AvailableExtension{}
	for _, a := range list {
		out[a.Name] = a
	}
	return out, err
}

// possibleSQL looks at what the host has, and at what is in the database, for an extension, a version, the installed version and a schema.
const possibleSQL = `SELECT e.name IS NOT NULL,
	$2 = '' OR v.version IS NOT NULL,
	CASE WHEN $2 IN ('', $3) OR $3 = '' OR e.name IS NULL THEN true
		ELSE EXISTS (SELECT FROM pg_extension_update_paths(e.name) p WHERE p.source = $3 AND p.target = $2 AND p.path IS NOT NULL) END,
	$4 = '' OR EXISTS (SELECT FROM pg_namespace WHERE nspname = $4),
	ARRAY(SELECT r::text FROM unnest(v.requires) r WHERE NOT EXISTS (SELECT FROM pg_extension x WHERE x.extname = r) ORDER BY 1)
	FROM (VALUES ($1::name)) wish (name)
	LEFT JOIN pg_available_extensions e ON e.name = wish.name
	LEFT JOIN pg_available_extension_versions v ON v.name = e.name AND v.version = coalesce(nullif($2, ''), e.default_version)`

// possible is nil unless no statement could make the extension what is asked for. That is found by looking, with the SQLSTATE that the
// server would answer with: such a fault lasts, and is not to be tried on each pass as a statement that fails.
func (s *session) possible(ctx context.Context, x ExtensionSpec, installed Extension) error {
	var available, version, path, schema bool
	var missing []string
	_, err := s.row(ctx, OpRead, x.Name, possibleSQL, []any{x.Name, x.Version, installed.Version, x.Schema}, &available, &version, &path, &schema, &missing)
	if err != nil {
		return err
	}
	op := OpCreateExtension
	switch {
	case installed.Name != "" && x.Version != "" && x.Version != installed.Version:
		op = OpUpdateExtension
	case installed.Name != "":
		op = OpMoveExtension
	}
	var code, message string
	switch {
	case op != OpMoveExtension && !available:
		code, message = "0A000", "the server's host does not have it"
	case op == OpUpdateExtension && !path:
		code, message = "22023", fmt.Sprintf("the server's host has no way from version %q to %q", installed.Version, x.Version)
	case op == OpCreateExtension && !version:
		code, message = "22023", fmt.Sprintf("the server's host does not have version %q", x.Version)
	case !schema:
		code, message = "3F000", fmt.Sprintf("schema %q does not exist: leave the extension out until the database's owner has made it", x.Schema)
	case op != OpMoveExtension && len(missing) > 0:
		code, message = "42704", fmt.Sprintf("it requires extensions that are not there: %s", strings.Join(missing, ", "))
	default:
		return nil
	}
	return &Error{Op: op, Subject: x.Name, Address: s.i.cfg.address(), Code: code, Message: message}
}
