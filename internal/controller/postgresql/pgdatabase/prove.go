package pgdatabase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	group "github.com/ryuvia/provider-terdut/internal/controller/postgresql"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A proof is what takes sessions of their own to find out: whether the password logs in, which extensions the database has, and whether the
// delivered Secret logs in. It holds for as long as nothing that it depends on changes, and for the verify interval.
type proof struct {
	key string
	at  time.Time
	// passwordRejected is true when the server refused the password that it should accept.
	passwordRejected bool
	extensions       []v1alpha1.ExtensionObservation
	// drift names extensions that are missing or not as asked for, and can be had.
	drift []string
	// unavailable says which cannot be had, nil for none.
	unavailable error
	// login is the condition LoginVerified, nil when no login was asked for.
	login *xpv2.Condition
	// credentialVersion of the password that logged in.
	credentialVersion string
}

// holds is true when everything that was asked for was proven.
func (p *proof) holds() bool {
	return !p.passwordRejected && len(p.drift) == 0 && p.unavailable == nil && (p.login == nil || p.login.Status == corev1.ConditionTrue)
}

// proofs remembers one proof per PGDatabase, and which Secret was seen to be delivered for it.
type proofs struct {
	mu      sync.Mutex
	proofs  map[types.UID]*proof
	trusted map[types.UID]types.UID
}

func newProofs() *proofs {
	return &proofs{proofs: map[types.UID]*proof{}, trusted: map[types.UID]types.UID{}}
}

func (p *proofs) get(uid types.UID) *proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.proofs[uid]
}

func (p *proofs) put(uid types.UID, v *proof) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proofs[uid] = v
}

func (p *proofs) forget(uid types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.proofs, uid)
	delete(p.trusted, uid)
}

func (p *proofs) trust(uid, secret types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trusted[uid] = secret
}

func (p *proofs) trusts(uid, secret types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trusted[uid] == secret
}

// prove what the facts do not show, unless a proof still holds.
func (e *external) prove(ctx context.Context, mg *v1alpha1.PGDatabase, f *postgresql.Facts, cred *credential) (*proof, error) {
	secret, err := e.loginSecretVersion(ctx, mg)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%d %s %s %d %s %d", mg.GetGeneration(), cred.version, secret, f.Database.OID, e.cfg.Object.GetUID(), e.cfg.Object.GetGeneration())
	if p := e.proofs.get(mg.GetUID()); p != nil && p.key == key && p.holds() && time.Since(p.at) < e.cfg.VerifyInterval(e.interval) {
		return p, nil
	}

	p := &proof{key: key, at: time.Now()}
	password := ""
	if cred.ready() {
		if password, err = cred.read(ctx); err != nil {
			return nil, err
		}
		err := e.instance.CheckLogin(ctx, e.names.Role, password, e.names.Database)
		switch {
		case postgresql.IsLoginRejected(err):
			p.passwordRejected = true
			return p, nil
		case err != nil:
			return nil, err
		}
		p.credentialVersion = cred.version
	}
	if err := e.proveExtensions(ctx, mg, p); err != nil {
		return nil, err
	}
	if err := e.proveLogin(ctx, mg, p, password); err != nil {
		return nil, err
	}
	e.proofs.put(mg.GetUID(), p)
	return p, nil
}

func (e *external) loginSecretVersion(ctx context.Context, mg *v1alpha1.PGDatabase) (string, error) {
	c := mg.Spec.ForProvider.LoginCheck
	if c == nil {
		return "", nil
	}
	return e.secrets.Version(ctx, local(mg, c.SecretRef.Name))
}

// proveExtensions compares the installed extensions with those asked for.
func (e *external) proveExtensions(ctx context.Context, mg *v1alpha1.PGDatabase, p *proof) error {
	specs := extensionSpecs(mg)
	if len(specs) == 0 {
		return nil
	}
	installed, err := e.instance.Extensions(ctx, e.names.Database)
	if err != nil {
		return err
	}
	var differ []postgresql.ExtensionSpec
	for _, s := range specs {
		x, ok := installed[s.Name]
		if ok {
			p.extensions = append(p.extensions, v1alpha1.ExtensionObservation{Name: x.Name, Version: x.Version, Schema: x.Schema})
		}
		if !ok || !x.Satisfies(s) {
			differ = append(differ, s)
		}
	}
	refused, err := e.unavailable(ctx, differ)
	if err != nil {
		return err
	}
	for _, s := range differ {
		// The update that was just tried knows better than the server's list, which has no ways from one version to another.
		switch r := cmp.Or(e.refused, refused[s.Name]); {
		case r == nil:
			p.drift = append(p.drift, "extension "+s.Name)
		case p.unavailable == nil:
			p.unavailable = r
		}
	}
	return nil
}

// proveLogin logs in with what the Secret of loginCheck holds. The password that was just proven for the same role need not be tried twice.
func (e *external) proveLogin(ctx context.Context, mg *v1alpha1.PGDatabase, p *proof, proven string) error {
	c := mg.Spec.ForProvider.LoginCheck
	if c == nil {
		return nil
	}
	report := func(cond xpv2.Condition) error {
		p.login = &cond
		return nil
	}
	ref := c.SecretRef
	v, _, err := e.secrets.Read(ctx, local(mg, ref.Name), ref.UsernameKey, ref.PasswordKey)
	if m := (*connect.MissingSecretError)(nil); errors.As(err, &m) {
		return report(notYet(v1alpha1.TypeLoginVerified, v1alpha1.ReasonSecretNotReady, err.Error()))
	}
	if err != nil {
		return err
	}
	if v[0] != e.names.Role {
		return report(notYet(v1alpha1.TypeLoginVerified, v1alpha1.ReasonLoginRejected, errNotOwner.Error()))
	}
	if proven == "" || v[1] != proven {
		err := e.instance.CheckLogin(ctx, v[0], v[1], e.names.Database)
		if postgresql.IsLoginRejected(err) {
			return report(notYet(v1alpha1.TypeLoginVerified, v1alpha1.ReasonLoginRejected, err.Error()))
		}
		if err != nil {
			return connect.WithReason(err, group.ReasonOf(err))
		}
	}
	return report(passed(v1alpha1.TypeLoginVerified))
}

// projectProof writes a proof into the status.
func (e *external) projectProof(mg *v1alpha1.PGDatabase, p *proof) {
	o := &mg.Status.AtProvider
	o.Extensions = p.extensions
	switch {
	case p.unavailable != nil:
		setup.Report(mg, e.recorder, notYet(v1alpha1.TypeExtensionsReady, v1alpha1.ReasonExtensionUnavailable, p.unavailable.Error()))
	case len(p.drift) == 0:
		setup.Mark(mg, passed(v1alpha1.TypeExtensionsReady))
	}
	// Without a source at hand the version that logged in last is still that.
	changed := p.credentialVersion != "" && o.CredentialVersion != p.credentialVersion
	if changed {
		o.CredentialVersion = p.credentialVersion
	}
	if p.login == nil {
		return
	}
	if p.login.Status == corev1.ConditionTrue && (changed || o.LoginVerifiedTime == nil || mg.GetCondition(v1alpha1.TypeLoginVerified).Status != corev1.ConditionTrue) {
		now := metav1.Now().Rfc3339Copy()
		o.LoginVerifiedTime = &now
	}
	if p.login.Reason == v1alpha1.ReasonSecretNotReady && mg.GetCondition(v1alpha1.TypeLoginVerified).Status != corev1.ConditionTrue {
		// It is yet to be delivered, which is no news to warn of.
		setup.Mark(mg, *p.login)
		return
	}
	setup.Report(mg, e.recorder, *p.login)
}
