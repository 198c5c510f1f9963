package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// calls are the requests about one record that went through a proxy of OpenBao.
type calls struct {
	mu   sync.Mutex
	seen []string
}

func (c *calls) about(path string, methods ...string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, s := range c.seen {
		method, at, _ := strings.Cut(s, " ")
		if strings.HasSuffix(at, "/"+path) && (len(methods) == 0 || slices.Contains(methods, method)) {
			out = append(out, s)
		}
	}
	return out
}

var writing = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// observedBao makes a ProviderConfig "observed" in a namespace, which reaches OpenBao through a proxy that notes the calls.
func observedBao(t *testing.T, ns string) *calls {
	t.Helper()
	u, err := url.Parse(p.Plane.OpenBao.Address)
	if err != nil {
		t.Fatalf("cannot parse address: %v", err)
	}
	c := &calls{}
	proxy := httputil.NewSingleHostReverseProxy(u)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.seen = append(c.seen, r.Method+" "+r.URL.Path)
		c.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	token := &corev1.Secret{}
	token.Namespace, token.Name = ns, "openbao"
	token.Data = map[string][]byte{"token": secretData(t, local.SystemNamespace, "openbao-provider")["token"]}
	create(t, token)
	pc := &openbaov1alpha1.ProviderConfig{}
	pc.Namespace, pc.Name = ns, "observed"
	pc.Spec.Address, pc.Spec.Mount = server.URL, openbao.Mount
	pc.Spec.Auth.Token = &openbaov1alpha1.LocalTokenAuth{SecretRef: commonv1alpha1.LocalSecretKeySelector{Name: "openbao", Key: "token"}}
	create(t, pc)
	becomes(t, pc, openbaov1alpha1.TypeHealthy, corev1.ConditionTrue, "")
	// Before the proxy goes: what is deleted needs it.
	t.Cleanup(func() { deleteNamespace(t, ns) })
	return c
}

// edit an object's spec or metadata.
func edit[O client.Object](t *testing.T, o O, how func(O)) {
	t.Helper()
	eventually(t, "a change of "+o.GetName(), func(ctx context.Context) error {
		if err := p.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		how(o)
		return p.Client.Update(ctx, o)
	})
}

func pause(o client.Object) {
	meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
}

func unpause(o client.Object) { meta.RemoveAnnotations(o, meta.AnnotationKeyReconciliationPaused) }

func TestH40ObserveOnly(t *testing.T) {
	ns := namespace(t)
	bao := observedBao(t, ns)
	name, path := named(ns), "observed/"+ns
	id := pgx.Identifier{name}.Sanitize()
	sql(t, "CREATE ROLE "+id+" LOGIN CONNECTION LIMIT 3", "CREATE DATABASE "+id+" OWNER "+id)
	if _, err := p.Plane.OpenBao.Root().KVv2(openbao.Mount).Put(t.Context(), path, map[string]any{"password": "of-somebody-else"}); err != nil {
		t.Fatalf("cannot write record: %v", err)
	}
	passwordSecret(t, ns, "password")
	before, log := world(t, name, path), serverLogFrom(t)

	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	db, missing := newDatabase(ns, "existing", name), newDatabase(ns, "missing", name+"_missing")
	record, absent := newRecord(ns, "existing", path), newRecord(ns, "missing", path+"/missing")
	for _, d := range []*xpv2.ManagementPolicies{
		&db.Spec.ManagementPolicies, &missing.Spec.ManagementPolicies, &record.Spec.ManagementPolicies, &absent.Spec.ManagementPolicies,
	} {
		*d = observe
	}
	db.Spec.ForProvider.DeletionPolicy, record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	for _, r := range []*openbaov1alpha1.BaoSecret{record, absent} {
		r.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "observed"}
	}
	all := []conditioned{db, missing, record, absent}
	for _, o := range all {
		create(t, o)
	}
	becomes(t, db, xpv2.TypeReady, corev1.ConditionTrue, "")
	becomes(t, record, xpv2.TypeReady, corev1.ConditionTrue, "")
	// What is only looked at and does not exist is an error, and is not made.
	becomes(t, missing, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)
	becomes(t, absent, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcileError)

	// A changed spec and a rotation change nothing either.
	edit(t, db, func(db *postgresqlv1alpha1.PGDatabase) { db.Spec.ForProvider.Owner.ConnectionLimit = ptr.To[int32](9) })
	edit(t, record, func(record *openbaov1alpha1.BaoSecret) {
		record.Spec.ForProvider.Rotation = &openbaov1alpha1.Rotation{Trigger: "new"}
	})
	passes(t, databases, 2)
	passes(t, credentials, 2)
	for _, o := range all {
		remove(t, o)
		isGone(t, o)
	}

	if w := log.writes(t); len(w) > 0 {
		t.Errorf("objects that only observe wrote: %q", w)
	}
	if c := append(bao.about(path, writing...), bao.about(path+"/missing", writing...)...); len(c) > 0 {
		t.Errorf("objects that only observe wrote: %q", c)
	}
	if len(bao.about(path)) == 0 {
		t.Error("the proxy saw no call: this test proves nothing")
	}
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Errorf("objects that only observe changed %q", diff)
	}
	if f := world(t, name+"_missing", path+"/missing"); len(f) > 0 {
		t.Errorf("objects that only observe created %q", f.changes(facts{}))
	}
}

func TestH40Pause(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	bao := observedBao(t, ns)
	name, path := named(ns), "paused/"+ns
	passwordSecret(t, ns, "password")
	db, record := newDatabase(ns, "paused", name), newRecord(ns, "paused", path)
	db.Spec.ForProvider.DeletionPolicy, record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	record.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "observed"}
	for _, o := range []conditioned{db, record} {
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
	for _, o := range []conditioned{db, record} {
		edit(t, client.Object(o), pause)
		becomes(t, o, xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcilePaused)
	}

	before, log, calls := world(t, name, path), serverLogFrom(t), len(bao.about(path))
	edit(t, db, func(db *postgresqlv1alpha1.PGDatabase) { db.Spec.ForProvider.Owner.ConnectionLimit = ptr.To[int32](9) })
	edit(t, record, func(record *openbaov1alpha1.BaoSecret) {
		record.Spec.ForProvider.Rotation = &openbaov1alpha1.Rotation{Trigger: "new"}
	})
	for _, o := range []conditioned{db, record} {
		remove(t, o)
	}
	// Others are served meanwhile: the provider has seen the changes above, and left the paused objects alone.
	busy, busyRecord := newDatabase(ns, "busy", name+"_busy"), newRecord(ns, "busy", path+"/busy")
	for _, o := range []conditioned{busy, busyRecord} {
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
	passes(t, databases, 2)
	passes(t, credentials, 2)
	for _, o := range []conditioned{db, record} {
		if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatalf("a paused object went: %v", err)
		}
	}
	// A parameter of a statement is in the log like the statement itself.
	if text := log.text(t); strings.Contains(text, "'"+name+"'") || strings.Contains(text, `"`+name+`"`) {
		t.Error("the server was asked about a paused database")
	}
	if c := bao.about(path); len(c) > calls {
		t.Errorf("OpenBao was asked about a paused record: %q", c[calls:])
	}
	if diff := before.changes(world(t, name, path)); len(diff) > 0 {
		t.Errorf("paused objects changed %q", diff)
	}

	for _, o := range []conditioned{db, record} {
		edit(t, client.Object(o), unpause)
		isGone(t, o)
	}
	if !strings.Contains(log.text(t), "'"+name+"'") {
		t.Error("the log does not have a database that was dropped: this test proves nothing of a paused one")
	}
	if left := world(t, name, path); len(left) > 0 {
		t.Errorf("deletion went on, and left %q", left.changes(facts{}))
	}
}

// noDelete are management policies that allow all but deletion.
var noDelete = xpv2.ManagementPolicies{
	xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize,
}

// Both policies must agree before something is deleted outside.
func TestH40DeleteNotManaged(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	name, path := named(ns), "kept/"+ns
	password := passwordSecret(t, ns, "password")
	db, record := newDatabase(ns, "kept", name), newRecord(ns, "kept", path)
	db.Spec.ForProvider.DeletionPolicy, record.Spec.ForProvider.DeletionPolicy = commonv1alpha1.DeletionDelete, commonv1alpha1.DeletionDelete
	db.Spec.ManagementPolicies, record.Spec.ManagementPolicies = noDelete, noDelete
	for _, o := range []conditioned{db, record} {
		create(t, o)
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
	before := world(t, name, path)
	for _, o := range []conditioned{db, record} {
		remove(t, o)
		isGone(t, o)
	}
	after := world(t, name, path)
	for _, place := range []string{"database/oid", "database/datacl", "role/rolpassword", "role/rolcanlogin", "record/data/data", "record/metadata/versions"} {
		if before[place] == "" || before[place] != after[place] {
			t.Errorf("without Delete in managementPolicies, deletion changed %s", place)
		}
	}
	if !logsIn(t, name, name, password) {
		t.Error("without Delete in managementPolicies, the login is gone")
	}
}
