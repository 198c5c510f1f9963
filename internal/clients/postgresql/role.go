package postgresql

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A RoleSpec is what the owner role should be.
type RoleSpec struct {
	// ConnectionLimit of the role; -1 is none.
	ConnectionLimit int
	// Password to give to the role. It is needed to create it; afterwards an empty one means that the password is not touched. Only
	// a verifier of it is sent.
	Password string
}

// RoleDrift names, sorted, the attributes of the role that are not as they should be. The role does not exist: nil.
func (f *Facts) RoleDrift(r RoleSpec) []string {
	if f.Role == nil {
		return nil
	}
	names := []string{}
	for _, c := range f.Role.changes(r) {
		names = append(names, c.name)
	}
	return names
}

type change struct{ name, sql string }

// changes that bring a role to its spec, sorted by name. Only what differs is in it: naming an attribute that only a superuser may
// change is refused even when it would stay as it is.
func (f *RoleFacts) changes(r RoleSpec) []change {
	var c []change
	for _, p := range f.Privileges {
		c = append(c, change{p, "NO" + p})
	}
	if f.ConnectionLimit != r.ConnectionLimit {
		c = append(c, change{"connectionLimit", fmt.Sprintf("CONNECTION LIMIT %d", r.ConnectionLimit)})
	}
	if f.Expires {
		c = append(c, change{"expires", "VALID UNTIL 'infinity'"})
	}
	if !f.Inherit {
		c = append(c, change{"inherit", "INHERIT"})
	}
	if !f.Login {
		c = append(c, change{"login", "LOGIN"})
	}
	return c
}

// EnsureRole creates the reserved role or repairs it, and sets its password when one is given. The role and its record are written in one
// transaction. It returns true when it created the role. Errors: ConflictError and IdentityChangedError; IsInvalidPassword when the
// password is needed and empty.
func (i *Instance) EnsureRole(ctx context.Context, c Claim, r RoleSpec) (created bool, err error) {
	if err := c.validate(); err != nil {
		return false, err
	}
	secret := ""
	if r.Password != "" {
		if secret, err = verifier(r.Password); err != nil {
			return false, err
		}
	}
	err = i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		created = false
		return s.inTx(ctx, c.Role, func() error {
			f, err := s.facts(ctx, c.Names, true)
			if err != nil {
				return err
			}
			if err := f.oursRole(c); err != nil {
				return err
			}
			if f.Role == nil {
				created = true
				return s.createRole(ctx, c, f, r, secret)
			}
			return s.alterRole(ctx, c, f, r, secret)
		})
	})
	i.registryLost(err)
	return created && err == nil, err
}

// oursRole is nil when the role may be written to. Consents have no say here: Reserve turned them into records.
func (f *Facts) oursRole(c Claim) error {
	d := f.DecideRole(c.Owner, Consents{})
	if d.Verdict != Ours {
		return &ConflictError{Kind: KindRole, Name: c.Role, Decision: d}
	}
	return d.Err(KindRole, c.Role)
}

func (s *session) createRole(ctx context.Context, c Claim, f *Facts, r RoleSpec, secret string) error {
	if secret == "" {
		_, err := verifier("")
		return err
	}
	sql := fmt.Sprintf("CREATE ROLE %s LOGIN CONNECTION LIMIT %d PASSWORD %s", ident(c.Role), r.ConnectionLimit, literal(secret))
	if _, err := s.exec(ctx, OpCreateRole, c.Role, sql); err != nil {
		return err
	}
	n := *f.RoleRecord
	if _, err := s.row(ctx, OpRead, c.Role, "SELECT oid FROM pg_roles WHERE rolname = $1", []any{c.Role}, &n.OID); err != nil {
		return err
	}
	n.State, n.ServerIdentity, n.CredentialVersion = StateCreated, s.identity, ""
	return s.put(ctx, OpRecord, n)
}

func (s *session) alterRole(ctx context.Context, c Claim, f *Facts, r RoleSpec, secret string) error {
	var sql []string
	for _, c := range f.Role.changes(r) {
		sql = append(sql, c.sql)
	}
	if len(sql) > 0 {
		if _, err := s.exec(ctx, OpAlterRole, c.Role, "ALTER ROLE "+ident(c.Role)+" "+strings.Join(sql, " ")); err != nil {
			return err
		}
	}
	if secret == "" {
		return nil
	}
	_, err := s.exec(ctx, OpSetPassword, c.Role, "ALTER ROLE "+ident(c.Role)+" PASSWORD "+literal(secret))
	return err
}

// dependentsSQL finds where a role still owns objects or has privileges: names of databases, or what kind of shared object it is.
const dependentsSQL = `SELECT DISTINCT coalesce(d.datname, o.datname, s.classid::regclass::text)
	FROM pg_shdepend s
	LEFT JOIN pg_database d ON d.oid = s.dbid
	LEFT JOIN pg_database o ON s.classid = 'pg_database'::regclass AND o.oid = s.objid
	WHERE s.refclassid = 'pg_authid'::regclass AND s.refobjid = $1::oid ORDER BY 1`

// DropRole drops the role and its record. A role that owns objects or has privileges in other databases is kept, without LOGIN, and those
// databases are returned. A role that is gone, or never was, is a success. Errors: ConflictError, IdentityChangedError.
func (i *Instance) DropRole(ctx context.Context, c Claim) (kept []string, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	err = i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
		return s.inTx(ctx, c.Role, func() error {
			f, err := s.facts(ctx, c.Names, true)
			if err != nil || f.RoleRecord == nil && f.Role == nil {
				return err
			}
			if d := f.DecideRole(c.Owner, Consents{}); d.Verdict == NotRegistered && f.RoleRecord != nil {
				return s.forget(ctx, f.RoleRecord) // Reserved by us, made by somebody else: only the record is ours.
			}
			if err := f.oursRole(c); err != nil {
				return err
			}
			if f.Role == nil {
				return s.forget(ctx, f.RoleRecord)
			}
			kept, err = rows(ctx, s, OpRead, c.Role, dependentsSQL, []any{f.Role.OID}, pgx.RowTo[string])
			if err != nil {
				return err
			}
			if len(kept) > 0 {
				return s.disableRole(ctx, c, f)
			}
			if _, err := s.exec(ctx, OpDropRole, c.Role, "DROP ROLE "+ident(c.Role)); err != nil {
				return err
			}
			return s.forget(ctx, f.RoleRecord)
		})
	})
	return kept, err
}

// disableRole keeps a role that cannot be dropped from logging in. Its record is kept as that of something retained.
func (s *session) disableRole(ctx context.Context, c Claim, f *Facts) error {
	if f.Role.Login {
		if _, err := s.exec(ctx, OpAlterRole, c.Role, "ALTER ROLE "+ident(c.Role)+" NOLOGIN"); err != nil {
			return err
		}
	}
	n := *f.RoleRecord
	n.State = StateRetained
	if n == *f.RoleRecord {
		return nil
	}
	return s.put(ctx, OpRecord, n)
}

// joinOwner makes the management role a member of the owner role, where it is not one that can act for it: creating a database for another
// owner and dropping it need that. Never with ADMIN OPTION, and never the other way round. PostgreSQL 16 gives the creator of a
// role a grant of its own, without SET and INHERIT; that one is left as it is.
func (s *session) joinOwner(ctx context.Context, f *Facts) error {
	if f.ActsAsOwner || f.Role == nil {
		return nil
	}
	sql := "GRANT " + ident(f.names.Role) + " TO CURRENT_USER"
	if s.version >= 160000 {
		sql += " WITH INHERIT TRUE, SET TRUE"
	}
	if _, err := s.exec(ctx, OpGrantMembership, f.names.Role, sql); err != nil {
		return err
	}
	var inherits bool
	_, err := s.row(ctx, OpRead, f.names.Role, "SELECT pg_has_role($1::name, 'USAGE')", []any{f.names.Role}, &inherits)
	if err != nil {
		return err
	}
	if !inherits {
		return &Error{Op: OpGrantMembership, Subject: f.names.Role, Address: s.i.cfg.address(), Code: "42501",
			Message: "the management role does not inherit the privileges of roles it is a member of", Privilege: "INHERIT"}
	}
	f.ActsAsOwner = true
	return nil
}
