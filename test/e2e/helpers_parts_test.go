package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/cluster/local/openbao"
)

// commandLine of the process of this plane whose command line has all the words. Processes of a plane are children of the test.
func commandLine(t *testing.T, words ...string) (pid int, args []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatalf("cannot list processes: %v", err)
	}
	for _, path := range all {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // It has ended.
		}
		// The name is in parentheses, and may hold anything; state and parent follow.
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 2 || f[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil {
			continue
		}
		args := strings.Split(strings.Trim(string(b), "\x00"), "\x00")
		args[0] = filepath.Base(args[0])
		if !slices.ContainsFunc(words, func(w string) bool {
			return !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, w) })
		}) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			return pid, args
		}
	}
	t.Fatalf("no process has %q in its command line", words)
	return 0, nil
}

// freeze a process of the plane until the test ends, or the function that is returned is called.
func freeze(t *testing.T, words ...string) (thaw func()) {
	t.Helper()
	pid, _ := commandLine(t, words...)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("cannot stop process %q: %v", words, err)
	}
	thaw = func() { _ = syscall.Kill(pid, syscall.SIGCONT) }
	t.Cleanup(thaw)
	return thaw
}

// The processes of a plane by words of their command lines.
var (
	crossplaneWords      = []string{"crossplane", "core"}
	externalSecretsWords = []string{"external-secrets"}
	apiServerWords       = []string{"kube-apiserver"}
)

// ownConfigs makes a ClusterProviderConfig of each group, named like the namespace, that reach the same servers as the default ones: what an
// admin allows in them is the test's own.
func ownConfigs(t *testing.T, name string) (*postgresqlv1alpha1.ClusterProviderConfig, *openbaov1alpha1.ClusterProviderConfig) {
	t.Helper()
	pg, bao := &postgresqlv1alpha1.ClusterProviderConfig{}, &openbaov1alpha1.ClusterProviderConfig{}
	for _, o := range []client.Object{pg, bao} {
		if err := p.Client.Get(t.Context(), types.NamespacedName{Name: "default"}, o); err != nil {
			t.Fatalf("cannot get config: %v", err)
		}
	}
	ownPG, ownBao := &postgresqlv1alpha1.ClusterProviderConfig{}, &openbaov1alpha1.ClusterProviderConfig{}
	ownPG.Name, ownBao.Name = name, name
	ownPG.Spec, ownBao.Spec = pg.Spec, bao.Spec
	ownPG.Spec.Adoptions, ownBao.Spec.Adoptions = nil, nil
	for _, o := range []conditioned{ownPG, ownBao} {
		create(t, o)
		t.Cleanup(func() {
			// It goes when its last user has, which the end of the namespace waits for.
			if err := client.IgnoreNotFound(p.Client.Delete(context.Background(), o)); err != nil {
				t.Errorf("cannot delete config: %v", err)
			}
		})
		becomes(t, o, postgresqlv1alpha1.TypeHealthy, corev1.ConditionTrue, "")
	}
	return ownPG, ownBao
}

// ownPair returns a PGDatabase and a BaoSecret that use the configs which are named like it.
func ownPair(ns, object, config, name, path string) (*postgresqlv1alpha1.PGDatabase, *openbaov1alpha1.BaoSecret) {
	db, record := newDatabase(ns, object, name), newRecord(ns, object, path)
	db.Spec.ProviderConfigReference.Name, record.Spec.ProviderConfigReference.Name = config, config
	return db, record
}

// bothReady waits until both objects are Ready.
func bothReady(t *testing.T, objects ...conditioned) {
	t.Helper()
	for _, o := range objects {
		becomes(t, o, xpv2.TypeReady, corev1.ConditionTrue, "")
	}
}

// notReadyFor waits until none is Ready for a reason.
func notReadyFor(t *testing.T, r xpv2.ConditionReason, objects ...conditioned) {
	t.Helper()
	for _, o := range objects {
		becomes(t, o, xpv2.TypeReady, corev1.ConditionFalse, r)
	}
}

// allow changes what an admin allows in a config.
func allow[O client.Object](t *testing.T, o O, f func(O)) {
	t.Helper()
	change(t, client.ObjectKeyFromObject(o), o, func() { f(o) })
}

// kvWrite does something to a path of the KV engine, as an admin.
func kvWrite(t *testing.T, part, path string, data map[string]any) {
	t.Helper()
	if _, err := p.Plane.OpenBao.Root().Logical().WriteWithContext(t.Context(), openbao.Mount+"/"+part+"/"+path, data); err != nil {
		t.Fatalf("cannot write %s of record %q", part, path)
	}
}

// same fails unless facts at some places exist and are what they were.
func same(t *testing.T, what string, before, after facts, places ...string) {
	t.Helper()
	for _, place := range places {
		if before[place] == "" || before[place] != after[place] {
			t.Errorf("%s: %s is not what it was", what, place)
		}
	}
}

// rowsIn runs a query as superuser in a database and returns the number that it says.
func rowsIn(t *testing.T, database, sql string) int {
	t.Helper()
	c := superuser(t, database)
	defer c.Close(context.Background()) // An open session would keep the database.
	return count(t, c, sql)
}

// inDatabase runs statements as superuser in a database.
func inDatabase(t *testing.T, database string, statements ...string) {
	t.Helper()
	c := superuser(t, database)
	defer c.Close(context.Background()) // An open session would keep the database.
	exec(t, c, statements...)
}

// rawPatch merges JSON into an object. Lists that are empty are written as such, which typed updates leave out.
func rawPatch(t *testing.T, o client.Object, format string, args ...any) {
	t.Helper()
	if err := p.Client.Patch(t.Context(), o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))); err != nil {
		t.Fatalf("cannot patch %T %q: %v", o, o.GetName(), err)
	}
}

// databaseOf returns the PGDatabase that a Tenant composes.
func databaseOf(t *testing.T, ns, tenant string) *postgresqlv1alpha1.PGDatabase {
	t.Helper()
	l := &postgresqlv1alpha1.PGDatabaseList{}
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns), composedFor(tenant)); err != nil || len(l.Items) != 1 {
		t.Fatalf("cannot find the PGDatabase of Tenant %q: %d there, %v", tenant, len(l.Items), err)
	}
	return &l.Items[0]
}

// externalSecretOf returns the ExternalSecret that a Tenant composes.
func externalSecretOf(t *testing.T, ns, tenant string) *unstructured.Unstructured {
	t.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(externalSecretKind)
	if err := p.Client.List(t.Context(), l, client.InNamespace(ns), composedFor(tenant)); err != nil || len(l.Items) != 1 {
		t.Fatalf("cannot find the ExternalSecret of Tenant %q: %d there, %v", tenant, len(l.Items), err)
	}
	return &l.Items[0]
}

// eventuallyWorld waits until what is outside satisfies a check.
func eventuallyWorld(t *testing.T, what, name, path string, check func(facts) bool) {
	t.Helper()
	eventually(t, what, func(context.Context) error {
		if !check(world(t, name, path)) {
			return errors.New("it is not")
		}
		return nil
	})
}
