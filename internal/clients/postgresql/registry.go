package postgresql

import (
	"context"
	"fmt"
)

const (
	registrySchema = "terdut_registry"
	registryTable  = registrySchema + ".object"
	// registryLock serialises setting up the registry.
	registryLock = 7018541 // Any number; advisory locks are local to the database.
)

// migrations of the registry, in order. A released one is never changed.
var migrations = []string{
	`CREATE TABLE ` + registryTable + ` (
		kind text NOT NULL CHECK (kind IN ('role', 'database')),
		name text COLLATE "C" NOT NULL,
		state text NOT NULL CHECK (state IN ('reserved', 'created', 'retained')),
		oid oid,
		server_identity text NOT NULL,
		control_plane text NOT NULL,
		owner_uid text NOT NULL,
		owner_namespace text NOT NULL,
		owner_name text NOT NULL,
		holder text NOT NULL,
		deletion_policy text NOT NULL,
		credential_version text NOT NULL DEFAULT '',
		created_at timestamptz NOT NULL DEFAULT now(),
		updated_at timestamptz NOT NULL DEFAULT now(),
		PRIMARY KEY (kind, name))`,
}

// EnsureRegistry creates the registry database and what is in it, as far as they are missing. It does nothing after it succeeded once.
// Reserve calls it.
func (i *Instance) EnsureRegistry(ctx context.Context) error {
	i.migrating.Lock()
	defer i.migrating.Unlock()
	i.mu.Lock()
	done := i.registry
	i.mu.Unlock()
	if done {
		return nil
	}
	migrate := func() error {
		return i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error { return s.migrate(ctx) })
	}
	err := migrate()
	if hasCode(err, "3D000") {
		if err := i.createRegistry(ctx); err != nil {
			return err
		}
		err = migrate()
	}
	if err != nil {
		return err
	}
	i.mu.Lock()
	i.registry = true
	i.mu.Unlock()
	return nil
}

func (i *Instance) createRegistry(ctx context.Context) error {
	return i.with(ctx, management, i.cfg.Database, func(s *session) error {
		name := i.cfg.RegistryDatabase
		var exists bool
		_, err := s.row(ctx, OpRead, name, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", []any{name}, &exists)
		if err != nil || exists {
			return err // Somebody was faster.
		}
		_, err = s.exec(ctx, OpCreateRegistry, name, "CREATE DATABASE "+ident(name)+" TEMPLATE template0")
		return err
	})
}

// migrate brings the registry up to date in one transaction.
func (s *session) migrate(ctx context.Context) error {
	name := s.database
	return s.inTx(ctx, name, func() error {
		var ignored any
		if _, err := s.row(ctx, OpMigrateRegistry, name, "SELECT pg_advisory_xact_lock($1)::text", []any{int64(registryLock)}, &ignored); err != nil {
			return err
		}
		var exists, public bool
		_, err := s.row(ctx, OpRead, name, `SELECT to_regclass('`+registrySchema+`.version') IS NOT NULL,
			pg_get_userbyid(d.datdba) = current_user AND EXISTS (SELECT FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a WHERE a.grantee = 0)
			FROM pg_database d WHERE d.datname = current_database()`, nil, &exists, &public)
		if err != nil {
			return err
		}
		version := 0
		if exists {
			if _, err := s.row(ctx, OpRead, name, "SELECT coalesce(max(version), 0) FROM "+registrySchema+".version", nil, &version); err != nil {
				return err
			}
		}
		if version > len(migrations) {
			return &Error{Op: OpMigrateRegistry, Subject: name, class: classUnsupported,
				Message: fmt.Sprintf("it has version %d and was written by a newer release; this one knows %d", version, len(migrations))}
		}
		var statements []string
		if public && name != s.i.cfg.Database {
			// Ours alone: nobody else has business in it.
			statements = append(statements, "REVOKE ALL ON DATABASE "+ident(name)+" FROM PUBLIC")
		}
		if !exists {
			statements = append(statements, "CREATE SCHEMA "+registrySchema,
				"CREATE TABLE "+registrySchema+".version (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())")
		}
		for n := version; n < len(migrations); n++ {
			statements = append(statements, migrations[n], fmt.Sprintf("INSERT INTO %s.version (version) VALUES (%d)", registrySchema, n+1))
		}
		for _, sql := range statements {
			if _, err := s.exec(ctx, OpMigrateRegistry, name, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// put writes a record: a new one, or over the one of the same name.
func (s *session) put(ctx context.Context, op Op, r Record) error {
	_, err := s.exec(ctx, op, r.Name, `INSERT INTO `+registryTable+` AS o (kind, name, state, oid, server_identity, control_plane, owner_uid,
			owner_namespace, owner_name, holder, deletion_policy, credential_version)
			VALUES ($1, $2, $3, nullif($4::oid, 0), $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (kind, name) DO UPDATE SET state = excluded.state, oid = excluded.oid, server_identity = excluded.server_identity,
			control_plane = excluded.control_plane, owner_uid = excluded.owner_uid, owner_namespace = excluded.owner_namespace,
			owner_name = excluded.owner_name, holder = excluded.holder, deletion_policy = excluded.deletion_policy, credential_version = excluded.credential_version,
			updated_at = now()`,
		string(r.Kind), r.Name, string(r.State), r.OID, r.ServerIdentity, r.Owner.ControlPlane, r.Owner.UID, r.Owner.Namespace, r.Owner.Name, r.Owner.Holder,
		r.DeletionPolicy, r.CredentialVersion)
	return err
}

// forget removes the record of an object that is gone.
func (s *session) forget(ctx context.Context, r *Record) error {
	_, err := s.exec(ctx, OpForget, r.Name, "DELETE FROM "+registryTable+" WHERE kind = $1 AND name = $2 AND owner_uid = $3",
		string(r.Kind), r.Name, r.Owner.UID)
	return err
}
