package secretcheck

import (
	"cmp"
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/contract"
	"github.com/ryuvia/provider-terdut/internal/contract/consume"
)

// workloadObjects are the kinds that have a pod template, by kind. An object of each is made anew for each use.
var workloadObjects = map[string]func() client.Object{
	"Deployment":  func() client.Object { return &appsv1.Deployment{} },
	"StatefulSet": func() client.Object { return &appsv1.StatefulSet{} },
	"DaemonSet":   func() client.Object { return &appsv1.DaemonSet{} },
	"Job":         func() client.Object { return &batchv1.Job{} },
	"CronJob":     func() client.Object { return &batchv1.CronJob{} },
}

func templateOf(o client.Object) *corev1.PodTemplateSpec {
	switch w := o.(type) {
	case *appsv1.Deployment:
		return &w.Spec.Template
	case *appsv1.StatefulSet:
		return &w.Spec.Template
	case *appsv1.DaemonSet:
		return &w.Spec.Template
	case *batchv1.Job:
		return &w.Spec.Template
	case *batchv1.CronJob:
		return &w.Spec.JobTemplate.Spec.Template
	}
	return nil
}

// checkWorkloads says whether each workload consumes the Secret, and tells how it uses it otherwise. One that cannot be read leaves the whole
// unknown, one that does not consume it makes it false: what is known to be wrong counts more.
func (e *evaluation) checkWorkloads(ctx context.Context, secret *corev1.Secret) {
	if len(e.spec.Workloads) == 0 {
		return
	}
	negative, unknown := contract.ReasonNone, contract.ReasonNone
	for _, w := range e.spec.Workloads {
		o := workloadObjects[w.Kind]()
		s := v1alpha1.WorkloadStatus{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Name}
		err := e.live.Get(ctx, types.NamespacedName{Namespace: e.mg.Namespace, Name: w.Name}, o)
		switch {
		case kerrors.IsForbidden(err), kerrors.IsUnauthorized(err):
			unknown = contract.ReasonWorkloadAccessDenied
			s.Reason = unknown.String()
		case kerrors.IsNotFound(err):
			negative = contract.ReasonWorkloadNotFound
			s.Reason = negative.String()
		case err != nil:
			e.unread(ctx, w.Kind, w.Name, err)
			unknown = contract.ReasonWorkloadReadFailed
			s.Reason = unknown.String()
		default:
			target := consume.Target{
				Secret: e.spec.Secret, Rules: e.spec.Rules, Containers: w.Containers,
				IncludeInitContainers: w.IncludeInitContainers, Consumption: w.Consumption,
			}
			if secret != nil {
				target.DataKeys = slices.AppendSeq([]string{}, maps.Keys(secret.Data))
			}
			r := consume.Check(templateOf(o), target)
			if !r.Configured && negative == contract.ReasonNone {
				negative = r.Reason
			}
			project(&s, r)
			projectUses(&s, consume.Uses(&templateOf(o).Spec, target))
		}
		e.workloads = append(e.workloads, s)
	}
	switch {
	case negative != contract.ReasonNone:
		e.conditions.WorkloadsConfigured = e.no(negative)
	case unknown != contract.ReasonNone:
		e.conditions.WorkloadsConfigured = e.unknown(unknown)
	default:
		e.conditions.WorkloadsConfigured = e.yes(contract.ReasonRulesSatisfied)
	}
}

func project(s *v1alpha1.WorkloadStatus, r consume.Result) {
	s.Configured, s.Reason, s.Containers, s.FindingCount = r.Configured, r.Reason.String(), r.Containers, int32(r.FindingCount)
	for _, f := range r.Findings {
		s.Findings = append(s.Findings, v1alpha1.WorkloadFinding{Path: f.Path, Reason: f.Reason.String()})
	}
	// All workloads share the bound of one list: 32 of them with 64 findings each would be a status that nobody reads.
	s.Findings = slices.Clip(s.Findings[:min(len(s.Findings), maxWorkloadFindings)])
}

// projectUses publishes where the Secret is used. What there is a reason to look at comes first: it must not be what is cut.
func projectUses(s *v1alpha1.WorkloadStatus, uses []consume.Use) {
	s.UseCount = int32(len(uses))
	slices.SortStableFunc(uses, func(a, b consume.Use) int { return cmp.Compare(min(len(b.Reasons), 1), min(len(a.Reasons), 1)) })
	for _, u := range uses[:min(len(uses), maxWorkloadFindings)] {
		use := v1alpha1.WorkloadUse{Path: u.Path, Form: string(u.Form), NeedsRestart: u.NeedsRestart}
		for _, r := range u.Reasons {
			use.Reasons = append(use.Reasons, r.String())
		}
		s.Uses = append(s.Uses, use)
	}
}

// maxWorkloadFindings is how many findings, and uses, are published of one workload.
const maxWorkloadFindings = 8
