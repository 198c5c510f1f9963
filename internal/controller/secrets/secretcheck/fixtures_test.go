package secretcheck

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

const (
	namespace = "shop"
	sentinel  = "S3ntinel-Value"
	esV1      = "external-secrets.io/v1"
)

var errTimeout = errors.New("timeout")

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A bench is an API server with some objects, and the external that is tested.
type bench struct {
	*external

	kube   client.Client
	events *events
	// gets counts reads of Secrets.
	gets int
	// fail, when set, answers a read of a kind.
	fail func(kind string) error
	at   time.Time
}

type events struct{ list []event.Event }

func (r *events) Event(_ runtime.Object, e event.Event)      { r.list = append(r.list, e) }
func (r *events) WithAnnotations(_ ...string) event.Recorder { return r }

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	es := schema.GroupVersionKind{Group: "external-secrets.io", Version: "v1", Kind: kindExternalSecret}
	s.AddKnownTypeWithName(es, &unstructured.Unstructured{})
	s.AddKnownTypeWithName(es.GroupVersion().WithKind(kindExternalSecret+"List"), &unstructured.UnstructuredList{})

	contracts := schema.GroupVersionKind{Group: "terdut.ryuvia.com", Version: "v1alpha1", Kind: "SecretContract"}
	s.AddKnownTypeWithName(contracts, &unstructured.Unstructured{})
	contracts.Kind = "XSecretContract"
	s.AddKnownTypeWithName(contracts, &unstructured.Unstructured{})

	b := &bench{events: &events{}, at: noon}
	b.kube = fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")
			if u, ok := o.(*unstructured.Unstructured); ok {
				kind = u.GetKind()
			}
			if kind == "Secret" {
				b.gets++
			}
			if o.GetObjectKind().GroupVersionKind().Kind == "XSecretContract" {
				k.Namespace = "" // It is of cluster scope, which this API server does not know.
			}
			if b.fail != nil {
				if err := b.fail(kind); err != nil {
					return err
				}
			}
			return c.Get(ctx, k, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", l), "*v1alpha1.")
			if u, ok := l.(*unstructured.UnstructuredList); ok {
				kind = u.GetKind()
			}
			if b.fail != nil {
				if err := b.fail(kind); err != nil {
					return err
				}
			}
			return c.List(ctx, l, opts...)
		},
	}).Build()
	b.external = &external{connector: &connector{
		live: b.kube, secrets: connect.NewSecrets(b.kube, b.kube), recorder: b.events,
		now: func() time.Time { return b.at }, versions: []string{esV1},
	}}
	return b
}

func timeout(kind string) func(string) error {
	return func(k string) error {
		if k != kind {
			return nil
		}
		return errTimeout
	}
}

func forbidden(kind string) func(string) error {
	return func(k string) error {
		if k != kind {
			return nil
		}
		return kerrors.NewForbidden(schema.GroupResource{Resource: kind}, "x", nil)
	}
}

func check(mods ...func(*v1alpha1.SecretCheck)) *v1alpha1.SecretCheck {
	c := &v1alpha1.SecretCheck{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders", UID: "check-uid", Generation: 3}}
	c.Spec.ForProvider.SecretRef = commonv1alpha1.LocalSecretReference{Name: "orders-db"}
	c.Spec.ForProvider.RequiredKeys = []v1alpha1.KeyRule{{Name: "password"}}
	c.Spec.ForProvider.ContractGeneration = 7
	c.Spec.ForProvider.CheckRequest = "please"
	for _, m := range mods {
		m(c)
	}
	return c
}

func secret(mods ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "orders-db", UID: "secret-uid"},
		Data:       map[string][]byte{"password": []byte(sentinel)},
	}
	for _, m := range mods {
		m(s)
	}
	return s
}

// look evaluates a check once.
func (b *bench) look(t *testing.T, mg *v1alpha1.SecretCheck) error {
	t.Helper()
	o, err := b.Observe(t.Context(), mg)
	if err == nil && (!o.ResourceExists || !o.ResourceUpToDate) {
		t.Errorf("Observe(...): got %+v: nothing must ever be created or updated", o)
	}
	noSentinel(t, mg, b.events.list, err)
	return err
}

// noSentinel looks for the Secret's value in everything that comes out.
func noSentinel(t *testing.T, outputs ...any) {
	t.Helper()
	for _, o := range outputs {
		j, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(j) + fmt.Sprintf("%+v", o); strings.Contains(s, sentinel) || strings.Contains(s, "UzNudGluZWw") {
			t.Errorf("the value of the Secret is in %T", o)
		}
	}
}

// says is a condition as status and reason.
func says(mg *v1alpha1.SecretCheck, ct xpv2.ConditionType) string {
	c := mg.GetCondition(ct)
	return string(c.Status) + " " + string(c.Reason)
}

// selfSigned makes a certificate and its private key, in PEM.
func selfSigned(t *testing.T, from, until time.Time) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}
