package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// registry is the database that the provider keeps its ownership records in.
const registry = "terdut"

// composedKinds are the kinds that a Tenant composes, what is delivered, and what is kept of who uses a provider config.
var composedKinds = []schema.GroupVersionKind{
	postgresqlv1alpha1.PGDatabaseGroupVersionKind, openbaov1alpha1.BaoSecretGroupVersionKind,
	{Group: "external-secrets.io", Version: "v1", Kind: "ExternalSecret"}, corev1.SchemeGroupVersion.WithKind("Secret"),
	postgresqlv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"), openbaov1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"),
}

// composed counts the objects of a namespace by kind; kinds of which there are none are left out.
func (w *world) composed(ctx context.Context, ns string) (map[string]int, error) {
	n := map[string]int{}
	for _, gvk := range composedKinds {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(gvk)
		if err := w.p.Client.List(ctx, l, client.InNamespace(ns)); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", gvk.Kind, err)
		}
		if len(l.Items) > 0 {
			n[gvk.GroupKind().String()] = len(l.Items)
		}
	}
	return n, nil
}

// outside is what PostgreSQL and OpenBao hold for a namespace. There is no secret in it.
type outside struct {
	Databases, Roles, Rows, Records []string
	// Of the record.
	Version, Versions string
	RecordOwner       string
	// Of the role and the database.
	ConnectionLimit int
	Extensions      []string
}

// outside looks at what there is for the namespaces that a pattern matches, and at more of the one Tenant there.
func (w *world) outside(ctx context.Context, ns, name string) (*outside, error) {
	o := &outside{}
	c, err := w.p.Plane.Postgres.Connect(ctx, registry)
	if err != nil {
		return nil, fmt.Errorf("cannot connect as superuser: %w", err)
	}
	defer c.Close(ctx) // Nothing is left to do with it.
	for into, sql := range map[*[]string]string{
		&o.Databases: "SELECT datname FROM pg_database WHERE datname LIKE $1 ORDER BY 1",
		&o.Roles:     "SELECT rolname FROM pg_roles WHERE rolname LIKE $1 ORDER BY 1",
		&o.Rows: `SELECT concat_ws(' ', kind, name, state, owner_uid, deletion_policy, regexp_replace(credential_version, '^.*/', ''))
			FROM terdut_registry.object WHERE name LIKE $1 ORDER BY kind`,
	} {
		rows, err := c.Query(ctx, sql, strings.ReplaceAll(ns, "_", `\_`)+`\_%`)
		if err != nil {
			return nil, fmt.Errorf("cannot look at PostgreSQL: %w", err)
		}
		if *into, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return nil, fmt.Errorf("cannot look at PostgreSQL: %w", err)
		}
	}
	root := w.p.Plane.OpenBao.Root().Logical()
	l, err := root.ListWithContext(ctx, openbao.Mount+"/metadata/tenants/"+ns)
	if err != nil {
		return nil, fmt.Errorf("cannot list records: %w", err)
	}
	if l != nil {
		for _, k := range l.Data["keys"].([]any) {
			o.Records = append(o.Records, fmt.Sprint(k))
		}
	}
	if slices.Contains(o.Records, name) {
		m, err := root.ReadWithContext(ctx, openbao.Mount+"/metadata/tenants/"+ns+"/"+name)
		if err != nil {
			return nil, fmt.Errorf("cannot read record: %w", err)
		}
		o.Version, o.Versions = fmt.Sprint(m.Data["current_version"]), fmt.Sprint(len(m.Data["versions"].(map[string]any)))
		custom, _ := m.Data["custom_metadata"].(map[string]any)
		o.RecordOwner, _ = custom["terdut-owner-uid"].(string)
	}
	database := ns + "_" + name
	if slices.Contains(o.Roles, database) {
		if err := c.QueryRow(ctx, "SELECT rolconnlimit FROM pg_roles WHERE rolname = $1", database).Scan(&o.ConnectionLimit); err != nil {
			return nil, fmt.Errorf("cannot look at role: %w", err)
		}
	}
	if slices.Contains(o.Databases, database) {
		if o.Extensions, err = w.extensions(ctx, database); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (w *world) extensions(ctx context.Context, database string) ([]string, error) {
	c, err := w.p.Plane.Postgres.Connect(ctx, database)
	if err != nil {
		return nil, fmt.Errorf("cannot connect as superuser: %w", err)
	}
	defer c.Close(ctx) // Nothing is left to do with it.
	rows, err := c.Query(ctx, "SELECT extname FROM pg_extension WHERE extname <> 'plpgsql' ORDER BY 1")
	if err != nil {
		return nil, fmt.Errorf("cannot look at extensions: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// password in the record of a Tenant. It must not be printed.
func (w *world) password(ctx context.Context, ns, name string) (string, error) {
	s, err := w.p.Plane.OpenBao.Root().Logical().ReadWithContext(ctx, openbao.Mount+"/data/tenants/"+ns+"/"+name)
	if err != nil || s == nil {
		return "", errors.New("cannot read the record")
	}
	data, _ := s.Data["data"].(map[string]any)
	v, ok := data["password"].(string)
	if !ok {
		return "", errors.New("the record has no password")
	}
	return v, nil
}

// secret of a Tenant. It must not be printed.
func (w *world) secret(ctx context.Context, ns, name string) (map[string][]byte, error) {
	s := &corev1.Secret{}
	if err := w.p.Client.Get(ctx, types.NamespacedName{Namespace: ns, Name: name + "-db"}, s); err != nil {
		return nil, fmt.Errorf("cannot get the Secret: %w", err)
	}
	return s.Data, nil
}

// secretLogsIn is nil when what the Secret of a Tenant holds logs in.
func (w *world) secretLogsIn(ctx context.Context, u *unstructured.Unstructured) error {
	data, err := w.secret(ctx, u.GetNamespace(), u.GetName())
	if err != nil {
		return err
	}
	return w.logsIn(ctx, string(data["dbname"]), string(data["username"]), string(data["password"]))
}

// logsIn is nil when a password logs in, at the server itself.
func (w *world) logsIn(ctx context.Context, database, user, password string) error {
	cfg, err := pgx.ParseConfig(w.p.Plane.Postgres.ConnString("postgres"))
	if err != nil {
		return errors.New("cannot parse connection string")
	}
	cfg.Database, cfg.User, cfg.Password = database, user, password
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		code := ""
		if e := (*pgconn.PgError)(nil); errors.As(err, &e) {
			code = e.Code
		}
		return fmt.Errorf("its Secret does not log in: SQLSTATE %q", code)
	}
	return c.Close(ctx)
}

// differs is nil when two things are the same.
func differs(what string, want, got any) error {
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("%s: -want +got:\n%s", what, diff)
	}
	return nil
}
