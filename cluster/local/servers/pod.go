package servers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ryuvia/provider-terdut/cluster/local/process"
)

const (
	// soon is how often a Pod that is not ready is looked at, and after how long a server that ended is started again.
	soon = 500 * time.Millisecond
	// probePeriod is how often a ready one is, as its readiness probe says.
	probePeriod = 5 * time.Second
	// probeTimeout bounds one look.
	probeTimeout = 3 * time.Second
)

// A pod is a server that runs for a Pod.
type pod struct {
	uid              types.UID
	proc             *process.Process
	address, control string
	dir              string
	ready            atomic.Bool
}

func (p *pod) isReady() bool { return p.ready.Load() }

func (p *pod) stop() {
	p.ready.Store(false)
	p.proc.Stop(stopGrace)
	_ = os.RemoveAll(p.dir)
}

// ended tells whether the process is gone.
func (p *pod) ended() bool {
	select {
	case <-p.proc.Done():
		return true
	default:
		return false
	}
}

// Reconcile a Pod.
func (s *Servers) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	o := &corev1.Pod{}
	err := s.client.Get(ctx, req.NamespacedName, o)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("cannot get Pod: %w", err)
	}
	running := s.running(req.NamespacedName)
	if running != nil && (err != nil || o.DeletionTimestamp != nil || o.UID != running.uid || running.ended()) {
		s.forget(req.NamespacedName)
		running.stop()
		running = nil
	}
	if err != nil || o.DeletionTimestamp != nil {
		return reconcile.Result{}, nil //nolint:nilerr // It is gone.
	}
	if running == nil {
		started, waiting, err := s.start(ctx, o)
		if err != nil {
			return reconcile.Result{}, err
		}
		if waiting != "" {
			return reconcile.Result{RequeueAfter: soon}, s.report(ctx, o, false, waiting)
		}
		running = started
		s.mu.Lock()
		s.pods[req.NamespacedName] = running
		s.mu.Unlock()
	}

	ready, why := running.probe(ctx)
	running.ready.Store(ready)
	after := soon
	if ready {
		after = probePeriod
	}
	return reconcile.Result{RequeueAfter: after}, s.report(ctx, o, ready, why)
}

func (s *Servers) running(n types.NamespacedName) *pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[n]
}

func (s *Servers) forget(n types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, n)
}

// start the server of a Pod, unless something that it needs is missing.
func (s *Servers) start(ctx context.Context, o *corev1.Pod) (p *pod, waiting string, err error) {
	dir := filepath.Join(s.o.Dir, string(o.UID))
	p = &pod{uid: o.UID, dir: dir}
	for _, addr := range []*string{&p.address, &p.control} {
		port, err := process.FreePort()
		if err != nil {
			return nil, "", err
		}
		*addr = fmt.Sprintf("127.0.0.1:%d", port)
	}
	defer func() {
		if err != nil || waiting != "" {
			// Nothing else knows of what was mounted.
			_ = os.RemoveAll(dir)
		}
	}()
	env, err := s.environment(ctx, o, p)
	if kerrors.IsNotFound(err) || isMissing(err) {
		return nil, err.Error(), nil
	}
	if err != nil {
		return nil, "", err
	}
	p.proc, err = process.Start(process.Spec{
		Name: o.Name, Path: s.o.Binary, Env: env, Dir: dir, LogFile: filepath.Join(s.o.Logs, AppName+"-"+o.Namespace+"-"+o.Name+".log"),
	})
	return p, "", err
}

// probe the server's health.
func (p *pod) probe(ctx context.Context) (ready bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/healthz", nil)
	if err != nil {
		return false, err.Error()
	}
	rsp, err := direct.RoundTrip(req)
	if err != nil {
		return false, "the server does not answer"
	}
	_ = rsp.Body.Close()
	if rsp.StatusCode != http.StatusOK {
		return false, "the server's health is " + rsp.Status
	}
	return true, ""
}

// report whether a Pod is ready, as a kubelet does. What has not changed is not written.
func (s *Servers) report(ctx context.Context, o *corev1.Pod, ready bool, why string) error {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	before := o.DeepCopy()
	o.Status.Phase = corev1.PodRunning
	for _, t := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		c := corev1.PodCondition{Type: t, Status: status, Message: why, LastTransitionTime: metav1.Now()}
		i := slices.IndexFunc(o.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == t })
		switch {
		case i < 0:
			o.Status.Conditions = append(o.Status.Conditions, c)
		case o.Status.Conditions[i].Status != status || o.Status.Conditions[i].Message != why:
			o.Status.Conditions[i] = c
		default:
			continue
		}
	}
	patch := client.MergeFrom(before)
	if data, err := patch.Data(o); err != nil || string(data) == "{}" {
		return err
	}
	if err := s.client.Status().Patch(ctx, o, patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot update status of Pod: %w", err)
	}
	return nil
}
