package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/test/terdutserver"
)

// credentialNamespace is the annotation that tells whose a Secret with a server's key is.
const credentialNamespace = "terdut.ryuvia.com/owner-namespace"

// deleteServers deletes all TerdutServers at once and waits until nothing is left of them, here and outside.
func (b *bench) deleteServers(ctx context.Context, what string) error {
	progressf("Deleting %d TerdutServers at once.", b.Servers)
	start := time.Now()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(terdutv1alpha1.TerdutServerGroupVersionKind)
	if err := b.p.Client.DeleteAllOf(ctx, u, client.InNamespace(namespaceServers)); err != nil {
		return fmt.Errorf("cannot delete TerdutServers: %w", err)
	}
	kinds := slices.Concat(oncallKinds, []schema.GroupVersionKind{
		terdutv1alpha1.TerdutServerGroupVersionKind, oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfig"), {Group: "apps", Version: "v1", Kind: "Deployment"},
	})
	said := time.Now()
	err := until(ctx, 500*time.Millisecond, func() (bool, error) {
		left, err := b.left(ctx, kinds)
		if err == nil && time.Since(said) > progressEvery {
			said = time.Now()
			progressf("  left: %s", strings.Join(left, ", "))
		}
		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("cannot see TerdutServers go: %w", err)
	}
	b.table.rowf(what+" at once, from delete until all are gone", "%s", seconds(time.Since(start)))

	rows, err := b.rowsLeft(ctx)
	if err != nil {
		return err
	}
	b.table.rowf("  teams, accounts, keys, policies, switches and integrations left in the servers' databases", "%d", rows)
	// What Kubernetes collects, it collects soon, not at once.
	kinds = append(kinds, schema.GroupVersionKind{Version: "v1", Kind: "Service"}, schema.GroupVersionKind{Version: "v1", Kind: "Pod"},
		schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, oncallv1alpha1.SchemeGroupVersion.WithKind("ProviderConfigUsage"))
	var left []string
	soon, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = until(soon, 500*time.Millisecond, func() (_ bool, err error) {
		left, err = b.left(soon, kinds)
		return len(left) == 0, err
	})
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	b.table.rowf("  objects left, those in the provider's namespace included", "%s", cmp.Or(strings.Join(left, ", "), "0"))
	return nil
}

// left are objects of some kinds, counted by kind, and Secrets with keys of servers.
func (b *bench) left(ctx context.Context, kinds []schema.GroupVersionKind) ([]string, error) {
	var out []string
	for _, gvk := range kinds {
		l, err := b.list(ctx, gvk, client.InNamespace(namespaceServers))
		if err != nil {
			return nil, err
		}
		n := 0
		for _, o := range l.Items {
			if gvk.Kind != "Secret" || o.Name != serverSecret {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, gvk.Kind))
		}
	}
	l, err := b.list(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, client.InNamespace(local.SystemNamespace))
	if err != nil {
		return nil, err
	}
	n := 0
	for _, o := range l.Items {
		if o.Annotations[credentialNamespace] == namespaceServers {
			n++
		}
	}
	if n > 0 {
		out = append(out, fmt.Sprintf("%d credentials", n))
	}
	return out, nil
}

// rowsLeft counts what is left in the databases that the servers had. Their first user stays: nobody can delete it.
func (b *bench) rowsLeft(ctx context.Context) (int, error) {
	n := 0
	for i := range b.Servers {
		st, err := b.stateLeft(ctx, databaseOf(i))
		if err != nil {
			return 0, err
		}
		keys := slices.DeleteFunc(st.Keys, func(k terdutserver.Key) bool { return k.AccountID == 0 })
		n += len(st.Teams) + len(st.ServiceAccounts) + len(keys) + len(st.Policies) + len(st.Switches) + len(st.Integrations)
	}
	return n, nil
}

func (b *bench) stateLeft(ctx context.Context, database string) (*terdutserver.State, error) {
	conn, err := b.p.Plane.Postgres.Connect(ctx, database)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to PostgreSQL as superuser: %w", err)
	}
	defer conn.Close(ctx) // Nothing is left to do with it.
	var state []byte
	if err := conn.QueryRow(ctx, "SELECT state FROM terdut_state").Scan(&state); err != nil {
		return nil, fmt.Errorf("cannot read what a server left in database %q: %w", pgx.Identifier{database}.Sanitize(), err)
	}
	st := &terdutserver.State{}
	if err := json.Unmarshal(state, st); err != nil {
		return nil, errors.New("cannot decode what a server left") // What the decoder says may quote a hash.
	}
	return st, nil
}
