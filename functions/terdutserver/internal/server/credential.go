package server

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	corev1 "k8s.io/api/core/v1"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
)

const (
	// annotationCredential of the Deployment says with which credential its replicas were started: a revision of the Deployment, and the
	// uid and resource version that the Secret had when that revision was asked for.
	annotationCredential = "terdut.ryuvia.com/database-credential"
	// annotationRevision is the Deployment controller's. It counts the changes of the pod template.
	annotationRevision = "deployment.kubernetes.io/revision"
)

const messageCredential = "It is known once all replicas are started with the current credential."

// A credential is the Secret that replicas read their password from when they are started, as a SecretCheck sees it. This function never
// sees the Secret.
type credential struct {
	// secret is its name, empty when there is no password.
	secret string
	// answered is true when something is known of it.
	answered bool
	// version of what is there, empty when nothing is, or nobody may look.
	version string
	// exists is what the SecretCheck says of that.
	exists xpv2.Condition
}

// composeCredential composes the SecretCheck of the database's Secret once the database is ready.
func (s *server) composeCredential() error {
	o := s.observed[resourceCredential]
	ref := s.password()
	if ref == nil && o != nil && !s.database.ready {
		// Nothing was started yet, and the database has gone again. It stays what it is.
		ref = checked(o)
	}
	if ref == nil {
		return nil
	}
	s.credential.secret = ref.Name
	render := func() (*structpb.Struct, error) { return s.renderCredential(*ref) }
	allowed := s.database.ready && s.namesFree() && s.bears(resourceCredential)
	// Whatever it finds, the server does not depend on it.
	always := func(*object) bool { return true }
	if err := s.compose(resourceCredential, allowed, render, always); err != nil {
		return err
	}
	if !s.holds[resourceCredential] {
		return nil
	}
	s.credential.exists, s.credential.answered = o.answers().Get(secretsv1alpha1.TypeSecretExists)
	if seen := o.Status.AtProvider.ObservedSecret; seen != nil && seen.Name == s.credential.secret && s.credential.exists.Status == corev1.ConditionTrue {
		s.credential.version = seen.UID + "/" + seen.ResourceVersion
	}
	return nil
}

// known tells whether replicas may be started: what they read then must be seen first.
func (c credential) known() bool { return c.secret == "" || c.answered }

// password that replicas read when they are started, nil when they read none.
func (s *server) password() *commonv1alpha1.LocalSecretKeySelector {
	for _, v := range s.spec.Env {
		if v.Name != envPassword {
			continue
		}
		if v.ValueFrom == nil {
			return nil
		}
		return v.ValueFrom.SecretKeyRef
	}
	return s.current().password
}

// checked is what an observed SecretCheck is about.
func checked(o *object) *commonv1alpha1.LocalSecretKeySelector {
	c := struct {
		Spec secretsv1alpha1.SecretCheckSpec `json:"spec"`
	}{}
	if err := composite.Decode(composite.Pick(o.manifest, "spec"), &c); err != nil || len(c.Spec.ForProvider.RequiredKeys) == 0 {
		return nil
	}
	return &commonv1alpha1.LocalSecretKeySelector{Name: c.Spec.ForProvider.SecretRef.Name, Key: c.Spec.ForProvider.RequiredKeys[0].Name}
}

func (s *server) renderCredential(ref commonv1alpha1.LocalSecretKeySelector) (*structpb.Struct, error) {
	return s.manifest(secretsv1alpha1.SchemeGroupVersion.String(), kinds[resourceCredential], s.generated(resourceCredential, s.subject.Name), s.labels(),
		map[string]any{"forProvider": map[string]any{
			"secretRef": map[string]any{"name": ref.Name}, "requiredKeys": list(map[string]any{"name": ref.Key, "nonEmpty": false}),
		}})
}

// A startedWith is what annotationCredential says.
type startedWith struct {
	revision int64
	version  string
	// before is what replicas of earlier revisions were started with, as long as some may be there, empty when that was the same.
	before string
}

// versionUnknown is no version of a Secret.
const versionUnknown = "unknown"

func (w startedWith) String() string {
	s := fmt.Sprintf("%d/%s", w.revision, w.version)
	if w.before != "" {
		s += ";" + w.before
	}
	return s
}

// next revision, asked for when the credential has a version, and the replicas of this one were all there or not.
func (w startedWith) next(revision int64, version string, rolledOut bool) startedWith {
	n := startedWith{revision: revision, version: version}
	switch {
	case !rolledOut && w.before != "" && w.before != version:
		// Where the template becomes what it was before, the replicas of then are kept.
		n.version = versionUnknown
	case w.version != version:
		n.before = w.version
	}
	return n
}

// startedWithOf an observed Deployment, nothing when it does not say.
func startedWithOf(o *object) (w startedWith, said bool) {
	text, before, _ := strings.Cut(o.Metadata.Annotations[annotationCredential], ";")
	revision, version, ok := strings.Cut(text, "/")
	n, err := strconv.ParseInt(revision, 10, 64)
	return startedWith{revision: n, version: version, before: before}, ok && err == nil
}

// revisionOf an observed Deployment, 0 when its controller has not looked at it yet.
func revisionOf(o *object) int64 {
	n, err := strconv.ParseInt(o.Metadata.Annotations[annotationRevision], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// record in a Deployment with which credential its replicas are started. What is there says so until the pod template changes: here, which
// makes another revision, or by somebody else, who has made one.
//
// A template that only loses something is such a one too: no comparison with what is observed tells, and its revision does.
func (s *server) record(deployment *structpb.Struct) {
	w := startedWith{revision: 1, version: s.credential.version}
	if o := s.observed[resourceDeployment]; o != nil {
		w = s.recorded(o, deployment)
	}
	if w.version != "" && s.credential.secret != "" {
		annotate(deployment, annotationCredential, w.String())
	}
}

// recorded is what is to be said of an observed Deployment that becomes a desired one.
func (s *server) recorded(o *object, desired *structpb.Struct) startedWith {
	is, now := revisionOf(o), s.credential.version
	w, said := startedWithOf(o)
	if said && w.revision > is {
		if !deploymentSeen(o) {
			// The Deployment's controller has not got to the last change.
			return w
		}
		// It has, and made no revision: the template was again what it was, and so are its replicas.
		w = startedWith{revision: max(is, 1), version: cmp.Or(w.before, w.version)}
	}
	another := !within(template(desired), template(o.manifest))
	switch {
	case said && another:
		return w.next(is+1, now, deploymentRolledOut(o))
	case another:
		return startedWith{revision: is + 1, version: now}
	case !said || w.revision < is && now != "":
		return startedWith{revision: max(is, 1), version: now}
	}
	return w
}

func template(deployment *structpb.Struct) *structpb.Value {
	return deployment.GetFields()["spec"].GetStructValue().GetFields()["template"]
}

// credentialCondition is true when all replicas were started since the database's Secret changed last.
func (s *server) credentialCondition() composite.Condition {
	const ct = v1alpha1.TypeDatabaseCredentialCurrent
	c, d := s.credential, s.observed[resourceDeployment]
	is := composite.Condition{Type: ct, Status: corev1.ConditionFalse}
	switch {
	case c.secret == "" && s.going(resourceCredential):
		return composite.Waiting(ct, messageGoing)
	case c.secret == "" && s.database.ready:
		return composite.Condition{Type: ct, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonNoCredential, Message: "The database is used without a Secret."}
	case !c.answered:
		return composite.Waiting(ct, messageCredential)
	case c.exists.Status == corev1.ConditionFalse:
		is.Reason, is.Message = v1alpha1.ReasonNotFound, fmt.Sprintf("There is no Secret %q, with which replicas are started.", c.secret)
		return is
	case c.version == "":
		return composite.Condition{Type: ct, Status: corev1.ConditionUnknown, Reason: string(c.exists.Reason), Message: c.exists.Message}
	case d == nil:
		return composite.Waiting(ct, messageCredential)
	}
	w, said := startedWithOf(d)
	switch {
	case said && w.version == versionUnknown:
		is.Status, is.Reason = corev1.ConditionUnknown, v1alpha1.ReasonCredentialChanged
		is.Message = fmt.Sprintf("Some replicas may have been started with an earlier content of Secret %q: restart Deployment %q.", c.secret, d.Metadata.Name)
		return is
	case said && w.version != c.version:
		is.Reason = v1alpha1.ReasonCredentialChanged
		is.Message = fmt.Sprintf("Secret %q has changed since the replicas were started, and they go on with what they read then: restart Deployment %q.", c.secret, d.Metadata.Name)
		return is
	case !said || !deploymentRolledOut(d) || w.revision > revisionOf(d):
		return composite.Waiting(ct, messageCredential)
	}
	return composite.Available(ct)
}
