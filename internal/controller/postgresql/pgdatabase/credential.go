package pgdatabase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/postgresql"
	"github.com/ryuvia/provider-terdut/internal/connect"
	"github.com/ryuvia/provider-terdut/internal/controller/openbao/baosecret"
	"github.com/ryuvia/provider-terdut/internal/controller/setup"
)

// A credential is where the owner's password comes from: its version, and how to read it when it is needed.
type credential struct {
	// version changes whenever the password may have. It is empty while there is no password.
	version string
	// message says what is missing while there is no password.
	message string
	get     func(context.Context) (string, error)
}

func (c *credential) ready() bool { return c.version != "" }

// read the password. One that is missing, empty or blank is an error: a role is never left without a password.
func (c *credential) read(ctx context.Context) (string, error) {
	if !c.ready() {
		return "", connect.WithReason(errors.New(c.message), v1alpha1.ReasonCredentialNotReady)
	}
	p, err := c.get(ctx)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(p) == "" {
		return "", connect.WithReason(errors.New("the password is empty or blank: the role keeps the one that it has"), v1alpha1.ReasonCredentialNotReady)
	}
	return p, nil
}

func noCredential(format string, args ...any) *credential {
	return &credential{message: fmt.Sprintf(format, args...)}
}

// credential finds the password's source. A source that is not there yet is no error.
func (e *external) credential(ctx context.Context, mg *v1alpha1.PGDatabase) (*credential, error) {
	from := mg.Spec.ForProvider.Owner.PasswordFrom
	if from.SecretKeyRef != nil {
		return e.secretCredential(ctx, mg, from.SecretKeyRef)
	}
	return e.baoCredential(ctx, mg, from.BaoSecretRef)
}

func (e *external) secretCredential(ctx context.Context, mg *v1alpha1.PGDatabase, ref *commonv1alpha1.LocalSecretKeySelector) (*credential, error) {
	n := local(mg, ref.Name)
	version, err := e.secrets.Version(ctx, n)
	if err != nil {
		return nil, err
	}
	if version == "" {
		return noCredential("Secret %q does not exist: create it with key %q", ref.Name, ref.Key), nil
	}
	return &credential{version: "secret/" + version, get: func(ctx context.Context) (string, error) {
		v, _, err := e.secrets.Read(ctx, n, ref.Key)
		if missing := (*connect.MissingSecretError)(nil); errors.As(err, &missing) {
			return "", connect.WithReason(err, v1alpha1.ReasonCredentialNotReady)
		}
		if err != nil {
			return "", err
		}
		return v[0], nil
	}}, nil
}

// usable is the credential, or none when it comes from a Secret whose key holds no password: a person has to fill it in, and the Secret's
// next change wakes the object. The data is only read when the Secret is another than the one that the role's record speaks of.
func (e *external) usable(ctx context.Context, mg *v1alpha1.PGDatabase, c *credential, role *postgresql.Record) (*credential, error) {
	if mg.Spec.ForProvider.Owner.PasswordFrom.SecretKeyRef == nil || !c.ready() || role != nil && role.CredentialVersion == c.version {
		return c, nil
	}
	_, err := c.read(ctx)
	if connect.ReasonOf(err, "") == v1alpha1.ReasonCredentialNotReady {
		return &credential{message: err.Error()}, nil
	}
	return c, err
}

// noBaoSecret says the same of one that does not exist and one that is not Ready: a new message on each step of a creation would be a write
// of the status on each, here and in the composite.
func noBaoSecret(name string) *credential {
	return noCredential("BaoSecret %q does not exist yet or is not Ready", name)
}

func (e *external) baoCredential(ctx context.Context, mg *v1alpha1.PGDatabase, ref *commonv1alpha1.LocalSecretKeySelector) (*credential, error) {
	s := &openbaov1alpha1.BaoSecret{}
	if err := e.kube.Get(ctx, local(mg, ref.Name), s); err != nil {
		if kerrors.IsNotFound(err) {
			return noBaoSecret(ref.Name), nil
		}
		return nil, fmt.Errorf("cannot get BaoSecret %q: %w", ref.Name, err)
	}
	if s.Status.AtProvider.Version == 0 || s.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		return noBaoSecret(ref.Name), nil
	}
	return &credential{version: fmt.Sprintf("openbao/%s/%s", s.GetUID(), s.Status.AtProvider.RecordVersion()), get: func(ctx context.Context) (string, error) {
		p, err := baosecret.Read(ctx, e.bao, s, ref.Key)
		if err != nil {
			return "", connect.WithReason(err, v1alpha1.ReasonCredentialNotReady)
		}
		return p, nil
	}}, nil
}

// waitForCredential reports that nothing stands in the way, and that the password is what is missing. Nothing was written.
func (e *external) waitForCredential(mg *v1alpha1.PGDatabase, c *credential) managed.ExternalObservation {
	e.pending(mg)
	setup.Mark(mg,
		notYet(v1alpha1.TypeRoleReady, v1alpha1.ReasonCredentialNotReady, c.message),
		setup.NotReady(v1alpha1.ReasonCredentialNotReady, c.message))
	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true, ConnectionDetails: e.connectionDetails(mg)}
}

// credentialChanged lets through the changes of a BaoSecret that matter to those who take a password from it.
func credentialChanged() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(u event.UpdateEvent) bool {
		was, ok := u.ObjectOld.(*openbaov1alpha1.BaoSecret)
		if !ok {
			return false
		}
		is, ok := u.ObjectNew.(*openbaov1alpha1.BaoSecret)
		return ok && (was.Status.AtProvider.RecordVersion() != is.Status.AtProvider.RecordVersion() ||
			was.GetCondition(xpv2.TypeReady).Status != is.GetCondition(xpv2.TypeReady).Status)
	}}
}
