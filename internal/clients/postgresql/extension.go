package postgresql

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// publicSchema is in every database, unless its owner dropped it.
const publicSchema = "public"

// An ExtensionSpec asks for an extension.
type ExtensionSpec struct {
	Name string
	// Schema to install into. Empty: the one that the extension insists on, else public.
	Schema string
	// Version to install or update to. Empty: the host's default when it is created, and not touched afterwards.
	Version string
}

// An Extension that is installed.
type Extension struct {
	Name, Version, Schema string
	// Relocatable says that it can be moved to another schema.
	Relocatable bool
}

// Satisfies says that the extension is what is asked for.
func (e Extension) Satisfies(x ExtensionSpec) bool {
	return e.Name == x.Name && (x.Version == "" || x.Version == e.Version) && (x.Schema == "" || x.Schema == e.Schema)
}

// An ExtensionResult says what became of one extension. Err is nil when it is as asked for.
type ExtensionResult struct {
	Extension
	Err error
}

// Extensions that are installed in a database, in a session of its own.
func (i *Instance) Extensions(ctx context.Context, database string) (map[string]Extension, error) {
	if err := ValidateName("database", database); err != nil {
		return nil, err
	}
	var out map[string]Extension
	err := i.with(ctx, tenant, database, func(s *session) (err error) {
		out, err = s.installed(ctx)
		return err
	})
	return out, err
}

func (s *session) installed(ctx context.Context) (map[string]Extension, error) {
	list, err := rows(ctx, s, OpRead, "extensions", `SELECT e.extname, e.extversion, n.nspname, e.extrelocatable
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace`, nil, pgx.RowToStructByPos[Extension])
	out := map[string]Extension{}
	for _, e := range list {
		out[e.Name] = e
	}
	return out, err
}

// EnsureExtensions creates, updates and moves extensions in the claim's database, in the order given. One that fails does not keep the
// others from being tried: each result has its own error. None is ever dropped. The error returned is about the database as a whole.
func (i *Instance) EnsureExtensions(ctx context.Context, c Claim, specs []ExtensionSpec) ([]ExtensionResult, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	err := i.with(ctx, management, i.cfg.RegistryDatabase, func(s *session) error {
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
		return s.joinOwner(ctx, f)
	})
	if err != nil {
		return nil, err
	}
	var out []ExtensionResult
	err = i.with(ctx, tenant, c.Database, func(s *session) error {
		out = nil
		installed, err := s.installed(ctx)
		if err != nil {
			return err
		}
		for _, x := range specs {
			r := ExtensionResult{Extension: Extension{Name: x.Name}}
			r.Err = s.ensureExtension(ctx, c, x, installed)
			if IsUnreachable(r.Err) || IsRetryable(r.Err) && !hasCode(r.Err, "42710") {
				return r.Err // Not this extension's fault. A duplicate object (42710) is: its script collides with what is there.
			}
			out = append(out, r)
		}
		// What was asked for is not proof of what is there.
		if installed, err = s.installed(ctx); err != nil {
			return err
		}
		for n, x := range specs {
			out[n].finish(x, installed)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (r *ExtensionResult) finish(x ExtensionSpec, installed map[string]Extension) {
	e, ok := installed[x.Name]
	if ok {
		r.Extension = e
	}
	if r.Err == nil && (!ok || !e.Satisfies(x)) {
		r.Err = &Error{Op: OpCreateExtension, Subject: x.Name, class: classUnsupported,
			Message: fmt.Sprintf("it is there with version %q in schema %q", e.Version, e.Schema)}
	}
}

func (s *session) ensureExtension(ctx context.Context, c Claim, x ExtensionSpec, installed map[string]Extension) error {
	for what, name := range map[string]string{"extension": x.Name, "schema": x.Schema} {
		if name == "" && what == "schema" {
			continue
		}
		if err := ValidateName(what, name); err != nil {
			return err
		}
	}
	e, ok := installed[x.Name]
	if ok && e.Satisfies(x) {
		return nil
	}
	if err := s.possible(ctx, x, e); err != nil {
		return err
	}
	if !ok {
		return s.createExtension(ctx, c, x)
	}
	if x.Version != "" && x.Version != e.Version {
		if err := s.asOwner(ctx, c, OpUpdateExtension, x.Name, "ALTER EXTENSION "+ident(x.Name)+" UPDATE TO "+ident(x.Version)); err != nil {
			return err
		}
	}
	if x.Schema != "" && x.Schema != e.Schema {
		if !e.Relocatable {
			return &Error{Op: OpMoveExtension, Subject: x.Name, class: classUnsupported,
				Message: fmt.Sprintf("it is in schema %q and cannot be moved", e.Schema)}
		}
		return s.asOwner(ctx, c, OpMoveExtension, x.Name, "ALTER EXTENSION "+ident(x.Name)+" SET SCHEMA "+ident(x.Schema))
	}
	return nil
}

// createExtension states a schema, unless the extension has one of its own, which it makes when it is missing. Without either, the
// extension would go to the first schema of our search path, which is pg_catalog.
func (s *session) createExtension(ctx context.Context, c Claim, x ExtensionSpec) error {
	if x.Schema == "" {
		available, err := s.available(ctx, []string{x.Name})
		if err != nil {
			return err
		}
		if available[x.Name].Schema == "" {
			x.Schema = publicSchema
		}
	}
	sql := "CREATE EXTENSION " + ident(x.Name)
	if x.Schema != "" {
		sql += " SCHEMA " + ident(x.Schema)
	}
	if x.Version != "" {
		sql += " VERSION " + ident(x.Version)
	}
	return s.asOwner(ctx, c, OpCreateExtension, x.Name, sql)
}

// asOwner runs a statement as the owner role, so that what it makes belongs to the tenant, and when that role may not, as ourselves:
// extensions that are not trusted need a superuser or what a host's provider grants instead.
func (s *session) asOwner(ctx context.Context, c Claim, op Op, subject, sql string) error {
	if _, err := s.exec(ctx, OpSetRole, c.Role, "SET ROLE "+ident(c.Role)); err != nil {
		return err
	}
	_, err := s.exec(ctx, op, subject, sql)
	if _, resetErr := s.exec(ctx, OpSetRole, c.Role, "RESET ROLE"); resetErr != nil {
		s.broken = true
		if err == nil {
			return resetErr
		}
	}
	if IsInsufficientPrivilege(err) && !s.broken {
		_, err = s.exec(ctx, op, subject, sql)
	}
	return err
}
