package postgresql

import "context"

// MinimumVersion of the server, in the form of server_version_num.
const MinimumVersion = 150000

// A ProbeResult says whether a server can be worked with.
type ProbeResult struct {
	ServerFacts
	// Superuser says that the management role is one.
	Superuser bool
	// Missing privileges of the management role: CREATEDB, CREATEROLE, or CONNECT on the registry database. Sorted.
	Missing []string
	// RegistryExists says that there is a database of the registry's name. Without it CREATEDB is what it takes to make it.
	RegistryExists bool
}

// Probe connects to Config.Database, or proves that it cannot, and reads what the server and the management role are able to. One statement.
func (i *Instance) Probe(ctx context.Context) (*ProbeResult, error) {
	p := &ProbeResult{}
	err := i.with(ctx, management, i.cfg.Database, func(s *session) error {
		p.ServerFacts = s.server()
		var createDB, createRole, connect bool
		_, err := s.row(ctx, OpRead, i.cfg.Username, `SELECT r.rolsuper, r.rolcreatedb, r.rolcreaterole, d.oid IS NOT NULL,
			coalesce(has_database_privilege(d.oid, 'CONNECT'), true)
			FROM pg_roles r LEFT JOIN pg_database d ON d.datname = $1 WHERE r.rolname = current_user`,
			[]any{i.cfg.RegistryDatabase}, &p.Superuser, &createDB, &createRole, &p.RegistryExists, &connect)
		p.Missing = nil
		for _, m := range []struct {
			has  bool
			name string
		}{{connect, `CONNECT on database "` + i.cfg.RegistryDatabase + `"`}, {createDB, "CREATEDB"}, {createRole, "CREATEROLE"}} {
			if !m.has && !p.Superuser {
				p.Missing = append(p.Missing, m.name)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}
