package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// An operation is a step of a Tenant's life.
type operation string

// Operations, in their order.
const (
	opCreate operation = "create"
	opUpdate operation = "update"
	opRotate operation = "rotate"
	opDelete operation = "delete"
)

var operations = []operation{opCreate, opUpdate, opRotate, opDelete}

const (
	pollInterval = 50 * time.Millisecond
	// calm is how long nothing is written when an operation is over.
	calm = 400 * time.Millisecond
)

// A life is that of one Tenant, the only one of its namespace.
type life struct {
	*world

	ns, name string
	observer *observer

	uid             string
	connectionLimit int
	extensions      []string
	rotations       int
	// passwords that the Tenant has had. They must not be printed.
	passwords []string
}

func (l *life) tenant() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(terdutv1alpha1.TenantGroupVersionKind)
	u.SetNamespace(l.ns)
	u.SetName(l.name)
	return u
}

// begin an operation.
func (l *life) begin(ctx context.Context, op operation) error {
	u := l.tenant()
	var err error
	switch op {
	case opCreate:
		l.connectionLimit, l.extensions = 50, []string{"pgcrypto"}
		u.Object["spec"] = map[string]any{"deletionPolicy": "Delete", "extensions": []any{map[string]any{"name": "pgcrypto"}}}
		err = l.p.Client.Create(ctx, u)
		l.uid = string(u.GetUID())
	case opUpdate:
		l.connectionLimit, l.extensions = 7, []string{"hstore", "pgcrypto"}
		err = l.patch(ctx, `{"spec":{"connectionLimit":7,"extensions":[{"name":"pgcrypto"},{"name":"hstore"}]}}`)
	case opRotate:
		l.rotations++
		err = l.patch(ctx, fmt.Sprintf(`{"spec":{"rotation":{"trigger":"%d"}}}`, l.rotations))
	case opDelete:
		err = l.p.Client.Delete(ctx, u)
	}
	if err != nil {
		return fmt.Errorf("cannot %s Tenant: %w", op, err)
	}
	return nil
}

func (l *life) patch(ctx context.Context, patch string) error {
	return l.p.Client.Patch(ctx, l.tenant(), client.RawPatch("application/merge-patch+json", []byte(patch)))
}

// end waits until an operation is over, and judges what it has left.
func (l *life) end(ctx context.Context, op operation) error {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	if op == opDelete {
		return l.gone(ctx)
	}
	if err := l.until(ctx, l.ready); err != nil {
		return err
	}
	return l.asPromised(ctx)
}

// until polls a check.
func (l *life) until(ctx context.Context, check func(context.Context) error) error {
	t := time.NewTicker(pollInterval)
	defer t.Stop()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not recover in %s: %w", l.patience, last)
		case <-t.C:
		}
	}
}

// ready is nil when the Tenant says that it is as its spec says.
func (l *life) ready(ctx context.Context) error {
	u := l.tenant()
	if err := l.p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
		return err
	}
	phase, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	generation, _, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	if phase != string(terdutv1alpha1.PhaseReady) || generation != u.GetGeneration() || conditionOf(u, "Ready")["status"] != "True" || conditionOf(u, "Synced")["status"] != "True" {
		return fmt.Errorf("phase %s, generation %d of %d: %s", phase, generation, u.GetGeneration(), conditionsOf(u))
	}
	return nil
}

// asPromised is nil when everything is there once, as the spec says, right now.
func (l *life) asPromised(ctx context.Context) error {
	got, err := l.outside(ctx, l.ns, l.name)
	if err != nil {
		return err
	}
	n, database := strconv.Itoa(l.rotations+1), l.ns+"_"+l.name
	want := &outside{
		Databases: []string{database}, Roles: []string{database}, Records: []string{l.name},
		Rows: []string{
			"database " + database + " created " + l.uid + " Delete ",
			"role " + database + " created " + l.uid + " Delete " + n,
		},
		Version: n, Versions: n, RecordOwner: l.uid, ConnectionLimit: l.connectionLimit, Extensions: l.extensions,
	}
	errs := []error{differs("outside", want, got)}

	composed, err := l.composed(ctx, l.ns)
	errs = append(errs, err, differs("objects", map[string]int{
		"PGDatabase.postgresql.terdut.ryuvia.com": 1, "BaoSecret.openbao.terdut.ryuvia.com": 1, "ExternalSecret.external-secrets.io": 1, "Secret": 1,
		"ProviderConfigUsage.postgresql.terdut.ryuvia.com": 1, "ProviderConfigUsage.openbao.terdut.ryuvia.com": 1,
	}, composed))

	data, err := l.secret(ctx, l.ns, l.name)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	errs = append(errs, l.logsIn(ctx, database, database, string(data["password"])))
	stored, err := l.password(ctx, l.ns, l.name)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	if stored != string(data["password"]) {
		errs = append(errs, errors.New("the Secret's password is not the record's"))
	}
	if len(l.passwords) <= l.rotations {
		l.passwords = append(l.passwords, stored)
	}
	if l.passwords[l.rotations] != stored {
		errs = append(errs, errors.New("the password is not the one that was made for this version"))
	}
	if l.rotations > 0 && (stored == l.passwords[l.rotations-1] || l.logsIn(ctx, database, database, l.passwords[l.rotations-1]) == nil) {
		errs = append(errs, errors.New("the password from before the rotation is still in use"))
	}
	return errors.Join(errs...)
}

// gone waits until the Tenant and what it composed are gone, and is nil when nothing is left outside.
func (l *life) gone(ctx context.Context) error {
	if err := l.until(ctx, func(ctx context.Context) error {
		u := l.tenant()
		switch err := l.p.Client.Get(ctx, client.ObjectKeyFromObject(u), u); {
		case client.IgnoreNotFound(err) != nil:
			return err
		case err == nil:
			return errors.New("the Tenant is still there: " + conditionsOf(u))
		}
		composed, err := l.composed(ctx, l.ns)
		if err == nil {
			err = differs("objects", map[string]int{}, composed)
		}
		return err
	}); err != nil {
		return err
	}
	got, err := l.outside(ctx, l.ns, l.name)
	if err != nil {
		return err
	}
	return differs("outside", &outside{}, got)
}

// settle waits until nothing was written for a while, so that what comes belongs to what comes next.
func (l *life) settle(ctx context.Context, calm time.Duration) error {
	return l.until(ctx, func(context.Context) error {
		if _, last, _ := l.injector.state(l.ns); time.Since(last) < calm {
			return errors.New("writes go on")
		}
		return nil
	})
}

// leaks is true when a password was seen in a status.
func (l *life) leaks() bool { return l.observer.leaks(l.passwords) }
