package access

import (
	"context"
	"errors"
	"strings"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/connect"
	terraform "github.com/ryuvia/provider-terdut/internal/terraform/openbao"
)

// A purpose is what an owned API is used for.
type purpose int

const (
	// manage what is ours: what is foreign is a conflict.
	manage purpose = iota
	// look at anything.
	look
	// remove what this very object holds: anything else is as good as absent.
	remove
)

// owned is the API as a managed resource may use it: what it reads carries no mark, what it writes carries its own, and what is not its own
// is not touched. Whoever uses it needs to know nothing of that.
//
// Nothing on the server ties a write to a read before it. Of two control planes that write the same object at the same time the later one
// stays, and the other one finds a conflict when it looks again, which it does at once.
type owned struct {
	terraform.API

	who     mark
	server  v1alpha1.ServerSpec
	purpose purpose

	// err is the last error, with the type that Terraform's diagnostics lose.
	err error
	// unmarked is true when what was read last is ours and does not say so.
	unmarked bool
}

// keep an error.
func (o *owned) keep(err error) error {
	o.err = err
	return err
}

// take what was found at a path: it is returned as an error when the object must not be seen or touched.
func (o *owned) take(m *mark, path string) error {
	switch o.purpose {
	case look:
		return nil
	case remove:
		if m == nil || m.holder != o.who.holder || m.controlPlane != o.who.controlPlane {
			return &openbao.Error{Reason: openbao.ReasonNotFound, Operation: "find an object of our own"}
		}
		return nil
	}
	v := judge(m, o.who, path, o.server)
	o.unmarked = v == toMark
	if v == foreign {
		return connect.WithReason(errors.New(conflict(m, path)), v1alpha1.ReasonConflict)
	}
	return nil
}

// mayWrite looks at what a write would replace. What is absent may be written.
func (o *owned) mayWrite(read func() error) error {
	if err := read(); err != nil && !openbao.IsNotFound(err) {
		return o.keep(err)
	}
	return nil
}

// ReadPolicy returns the text of a policy without its mark.
func (o *owned) ReadPolicy(ctx context.Context, name string) (string, error) {
	text, err := o.API.ReadPolicy(ctx, name)
	if err != nil {
		return "", o.keep(err)
	}
	text, m := unmarked(text)
	return text, o.keep(o.take(m, "sys/policies/acl/"+name))
}

// WritePolicy writes a policy with the mark.
func (o *owned) WritePolicy(ctx context.Context, name, text string) error {
	if strings.HasPrefix(name, markPrefix) {
		// Roles have marks among the names of their policies, and a mark must not grant anything.
		return o.keep(&openbao.Error{Reason: openbao.ReasonRejected, Operation: "write a policy whose name begins with " + markPrefix})
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return o.keep(&openbao.Error{Reason: openbao.ReasonRejected, Operation: "write a policy in JSON, which has no comments: write it in HCL"})
	}
	err := o.mayWrite(func() error { _, err := o.ReadPolicy(ctx, name); return err })
	if err != nil {
		return err
	}
	return o.keep(o.API.WritePolicy(ctx, name, marked(text, o.who)))
}

// DeletePolicy deletes a policy if this object holds it.
func (o *owned) DeletePolicy(ctx context.Context, name string) error {
	if _, err := o.ReadPolicy(ctx, name); err != nil {
		return o.gone(err)
	}
	return o.keep(o.API.DeletePolicy(ctx, name))
}

// ReadKubernetesAuthRole returns a role without its mark.
func (o *owned) ReadKubernetesAuthRole(ctx context.Context, mount, name string) (*openbao.KubernetesAuthRole, error) {
	role, err := o.API.ReadKubernetesAuthRole(ctx, mount, name)
	if err != nil {
		return nil, o.keep(err)
	}
	var m *mark
	role.TokenPolicies, m = withoutMark(role.TokenPolicies)
	return role, o.keep(o.take(m, rolePath(mount, name)))
}

// WriteKubernetesAuthRole writes a role with the mark.
func (o *owned) WriteKubernetesAuthRole(ctx context.Context, mount, name string, role openbao.KubernetesAuthRole) error {
	err := o.mayWrite(func() error { _, err := o.ReadKubernetesAuthRole(ctx, mount, name); return err })
	if err != nil {
		return err
	}
	role.TokenPolicies = withMark(role.TokenPolicies, o.who)
	return o.keep(o.API.WriteKubernetesAuthRole(ctx, mount, name, role))
}

// DeleteKubernetesAuthRole deletes a role if this object holds it.
func (o *owned) DeleteKubernetesAuthRole(ctx context.Context, mount, name string) error {
	if _, err := o.ReadKubernetesAuthRole(ctx, mount, name); err != nil {
		return o.gone(err)
	}
	return o.keep(o.API.DeleteKubernetesAuthRole(ctx, mount, name))
}

// ReadAppRoleRole returns a role without its mark.
func (o *owned) ReadAppRoleRole(ctx context.Context, mount, name string) (*openbao.AppRoleRole, error) {
	role, err := o.API.ReadAppRoleRole(ctx, mount, name)
	if err != nil {
		return nil, o.keep(err)
	}
	var m *mark
	role.TokenPolicies, m = withoutMark(role.TokenPolicies)
	return role, o.keep(o.take(m, rolePath(mount, name)))
}

// WriteAppRoleRole writes a role with the mark.
func (o *owned) WriteAppRoleRole(ctx context.Context, mount, name string, role openbao.AppRoleRole) error {
	err := o.mayWrite(func() error { _, err := o.ReadAppRoleRole(ctx, mount, name); return err })
	if err != nil {
		return err
	}
	role.TokenPolicies = withMark(role.TokenPolicies, o.who)
	return o.keep(o.API.WriteAppRoleRole(ctx, mount, name, role))
}

// DeleteAppRoleRole deletes a role if this object holds it.
func (o *owned) DeleteAppRoleRole(ctx context.Context, mount, name string) error {
	if _, err := o.ReadAppRoleRole(ctx, mount, name); err != nil {
		return o.gone(err)
	}
	return o.keep(o.API.DeleteAppRoleRole(ctx, mount, name))
}

func rolePath(mount, name string) string { return "auth/" + mount + "/role/" + name }

// gone is no error of something that is to be deleted and is not there.
func (o *owned) gone(err error) error {
	if openbao.IsNotFound(err) || openbao.IsMountNotFound(err) {
		err = nil
	}
	return o.keep(err)
}
