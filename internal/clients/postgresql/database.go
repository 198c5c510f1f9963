package postgresql

import (
	"context"
	"fmt"
)

// A DatabaseSpec is what the database should be.
type DatabaseSpec struct {
	// Encoding, Locale and Template matter when the database is created. Empty: those of the template, which is template0 by default.
	Encoding, Locale, Template string
	// ConnectionLimit of the database; -1 is none.
	ConnectionLimit int
}

// DatabaseDrift names, sorted, what is not as it should be about the database. The database does not exist: nil.
func (f *Facts) DatabaseDrift(d DatabaseSpec) []string {
	if f.Database == nil {
		return nil
	}
	names := []string{}
	add := func(drift bool, name string) {
		if drift {
			names = append(names, name)
		}
	}
	add(!f.Database.AllowConnections, "allowConnections")
	add(f.Database.ConnectionLimit != d.ConnectionLimit, "connectionLimit")
	add(!f.ActsAsOwner, "membership")
	add(f.Database.Owner != f.names.Role, "owner")
	add(len(f.Database.PublicPrivileges) > 0, "publicPrivileges")
	return names
}

// EnsureDatabase creates the reserved database or repairs it. The owner role must be there. It returns true when it created the
// database. Errors: ConflictError, DataLostError, IdentityChangedError; IsInUse when a template is busy.
func (i *Instance) EnsureDatabase(ctx context.Context, c Claim, d DatabaseSpec) (created bool, err error) {
	if err := c.validate(); err != nil {
		return false, err
	}
	err = i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.locked(ctx, c.Database, func() error {
			f, err := s.facts(ctx, c.Names, false)
			if err != nil {
				return err
			}
			if err := f.oursDatabase(c); err != nil {
				return err
			}
			if err := f.oursRole(c); err != nil {
				return err
			}
			if f.Role == nil {
				return &Error{Op: OpCreateDatabase, Subject: c.Database, Code: "42704", Message: fmt.Sprintf("its owner, role %q, does not exist", c.Role)}
			}
			if err := s.joinOwner(ctx, f); err != nil {
				return err
			}
			if f.Database == nil {
				if err := s.createDatabase(ctx, c, d); err != nil {
					return err
				}
				created = true
				if f, err = s.facts(ctx, c.Names, false); err != nil {
					return err
				}
				if err := f.oursDatabase(c); err != nil {
					return err
				}
			}
			if err := s.recordDatabase(ctx, f); err != nil {
				return err
			}
			return s.repairDatabase(ctx, c, f, d)
		})
	})
	i.registryLost(err)
	return created && err == nil, err
}

// oursDatabase is nil when the database may be written to. Consents have no say here: Reserve turned them into records.
func (f *Facts) oursDatabase(c Claim) error {
	d := f.DecideDatabase(c.Owner, Consents{})
	if d.Verdict != Ours {
		return &ConflictError{Kind: KindDatabase, Name: c.Database, Decision: d}
	}
	return d.Err(KindDatabase, c.Database)
}

// createDatabase makes the database closed to connections: it is opened when PUBLIC has no privileges on it any more.
func (s *session) createDatabase(ctx context.Context, c Claim, d DatabaseSpec) error {
	setDefault(&d.Template, "template0")
	// The server would let the management role copy any database whose owner it can act for, which is all that it made.
	var template bool
	_, err := s.row(ctx, OpRead, d.Template, "SELECT coalesce(bool_or(datistemplate), false) FROM pg_database WHERE datname = $1", []any{d.Template}, &template)
	if err != nil {
		return err
	}
	if !template {
		return &Error{Op: OpCreateDatabase, Subject: c.Database, class: classUnsupported, Message: fmt.Sprintf("database %q is not marked as a template (IS_TEMPLATE)", d.Template)}
	}
	sql := fmt.Sprintf("CREATE DATABASE %s OWNER %s TEMPLATE %s ALLOW_CONNECTIONS false CONNECTION LIMIT %d",
		ident(c.Database), ident(c.Role), ident(d.Template), d.ConnectionLimit)
	if d.Encoding != "" {
		sql += " ENCODING " + literal(d.Encoding)
	}
	if d.Locale != "" {
		sql += " LOCALE " + literal(d.Locale)
	}
	_, err = s.exec(ctx, OpCreateDatabase, c.Database, sql)
	return err
}

// recordDatabase records the OID of a database that was created for the record.
func (s *session) recordDatabase(ctx context.Context, f *Facts) error {
	n := *f.DatabaseRecord
	n.OID, n.State = f.Database.OID, StateCreated
	if n.ServerIdentity == "" || f.DatabaseRecord.OID == 0 {
		n.ServerIdentity = s.identity
	}
	if n == *f.DatabaseRecord {
		return nil
	}
	return s.put(ctx, OpRecord, n)
}

// repairDatabase puts drift back. The owner comes first, because the rest is its right; opening to connections comes last.
func (s *session) repairDatabase(ctx context.Context, c Claim, f *Facts, d DatabaseSpec) error {
	name := ident(c.Database)
	for _, step := range []struct {
		needed bool
		op     Op
		sql    string
	}{
		{f.Database.Owner != c.Role, OpAlterDatabase, "ALTER DATABASE " + name + " OWNER TO " + ident(c.Role)},
		{len(f.Database.PublicPrivileges) > 0, OpRevokePublic, "REVOKE CONNECT, TEMPORARY ON DATABASE " + name + " FROM PUBLIC"},
		{f.Database.ConnectionLimit != d.ConnectionLimit, OpAlterDatabase, fmt.Sprintf("ALTER DATABASE %s CONNECTION LIMIT %d", name, d.ConnectionLimit)},
		{!f.Database.AllowConnections, OpAlterDatabase, "ALTER DATABASE " + name + " ALLOW_CONNECTIONS true"},
	} {
		if !step.needed {
			continue
		}
		if _, err := s.exec(ctx, step.op, c.Database, step.sql); err != nil {
			return err
		}
	}
	return nil
}

// DropDatabase drops the database and then its record. With terminate it closes the database to new connections and ends the sessions in
// it; without, sessions make it return an InUseError and nothing is changed. A database that is gone, or never was, is a success. Errors:
// ConflictError, IdentityChangedError.
func (i *Instance) DropDatabase(ctx context.Context, c Claim, terminate bool) error {
	if err := c.validate(); err != nil {
		return err
	}
	return i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.locked(ctx, c.Database, func() error {
			f, err := s.facts(ctx, c.Names, false)
			if err != nil || f.DatabaseRecord == nil && f.Database == nil {
				return err
			}
			d := f.DecideDatabase(c.Owner, Consents{})
			switch {
			case d.Verdict == NotRegistered && f.DatabaseRecord != nil:
				return s.forget(ctx, f.DatabaseRecord) // Reserved by us, made by somebody else: only the record is ours.
			case d.Verdict != Ours:
				return &ConflictError{Kind: KindDatabase, Name: c.Database, Decision: d}
			case d.Condition == Replaced:
				return &IdentityChangedError{Kind: KindDatabase, Name: c.Database}
			}
			if f.Database != nil {
				if err := s.joinOwner(ctx, f); err != nil {
					return err
				}
				if f.Database.Template {
					// Its owner may have marked it, and a template cannot be dropped.
					if _, err := s.exec(ctx, OpAlterDatabase, c.Database, "ALTER DATABASE "+ident(c.Database)+" IS_TEMPLATE false"); err != nil {
						return err
					}
				}
				if err := s.dropDatabase(ctx, c.Database, f.Database.AllowConnections, terminate); err != nil {
					return err
				}
			}
			return s.forget(ctx, f.DatabaseRecord)
		})
	})
}

func (s *session) dropDatabase(ctx context.Context, name string, open, terminate bool) error {
	if terminate && open {
		if _, err := s.exec(ctx, OpAlterDatabase, name, "ALTER DATABASE "+ident(name)+" ALLOW_CONNECTIONS false"); err != nil {
			return err
		}
	}
	// Asked first, because a plain DROP DATABASE waits some seconds for sessions to end, and because with FORCE one that may not end
	// other roles' sessions is refused over an autovacuum worker, which the plain one sends away.
	n, err := s.sessions(ctx, name)
	switch {
	case err != nil:
		return err
	case n > 0 && terminate:
		_, err = s.exec(ctx, OpTerminateSessions, name, "DROP DATABASE IF EXISTS "+ident(name)+" WITH (FORCE)")
	case n > 0:
		return &InUseError{Database: name, Sessions: n}
	default:
		_, err = s.exec(ctx, OpDropDatabase, name, "DROP DATABASE IF EXISTS "+ident(name))
	}
	if hasCode(err, "55006") {
		n, _ := s.sessions(ctx, name) // The server's message is enough without.
		return &InUseError{Database: name, Sessions: n, Message: err.Error()}
	}
	return err
}

// Sessions counts the sessions in a database.
func (i *Instance) Sessions(ctx context.Context, database string) (n int, err error) {
	err = i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		n, err = s.sessions(ctx, database)
		return err
	})
	return n, err
}

// sessions of users; background workers have none.
func (s *session) sessions(ctx context.Context, database string) (n int, err error) {
	_, err = s.row(ctx, OpRead, database, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND usesysid IS NOT NULL AND pid <> pg_backend_pid()",
		[]any{database}, &n)
	return n, err
}
