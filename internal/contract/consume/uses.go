package consume

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/ryuvia/provider-terdut/internal/contract"
)

// A Form is how a pod uses a Secret.
type Form string

// The forms.
const (
	FormEnv             Form = "Env"             // One key as a variable.
	FormEnvFrom         Form = "EnvFrom"         // All keys as variables.
	FormVolume          Form = "Volume"          // Files of a volume.
	FormProjected       Form = "Projected"       // Files of a projected volume.
	FormSubPath         Form = "SubPath"         // A part of such a volume, mounted by itself.
	FormImagePullSecret Form = "ImagePullSecret" // Credentials of a registry.
)

// A Use is one place where a pod uses a Secret.
type Use struct {
	// Path in the pod's specification.
	Path string `json:"path"`
	Form Form   `json:"form"`

	// NeedsRestart says that a running pod keeps the old data when the Secret changes.
	NeedsRestart bool `json:"needsRestart"`

	// Reasons to look at it, sorted; never nil. OptionalReferenceNotAllowed: a required key may be absent here and the pod starts all
	// the same. KeyNotProjected: a list of keys lacks a required one. KeyNotPortable: a required key would not become a portable
	// variable, and may be dropped in silence. KeyNotFound: a key is read that the Secret does not have.
	Reasons []contract.Reason `json:"reasons"`
}

// Uses returns all places where a pod uses the Secret, in every container of every kind, by path. The name must be the Secret's own: one
// that is like it is another Secret. Of the target it looks at Secret, Rules and DataKeys.
func Uses(pod *corev1.PodSpec, target Target) []Use {
	u := &uses{target: target, list: []Use{}}
	for i, s := range pod.ImagePullSecrets {
		if s.Name == target.Secret {
			u.add(fmt.Sprintf("imagePullSecrets[%d]", i), FormImagePullSecret, false)
		}
	}
	for i, v := range pod.Volumes {
		for _, s := range sources(v, target.Secret) {
			u.add(element("volumes", i, v.Name)+s.path, s.form, false, u.files(s)...)
		}
	}

	containers := list("containers", pod.Containers, pod.Volumes)
	containers = append(containers, list("initContainers", pod.InitContainers, pod.Volumes)...)
	for i, c := range pod.EphemeralContainers {
		containers = append(containers, &container{
			Container: corev1.Container(c.EphemeralContainerCommon), path: element("ephemeralContainers", i, c.Name), volumes: pod.Volumes,
		})
	}
	for _, c := range containers {
		u.container(c)
	}
	slices.SortStableFunc(u.list, func(a, b Use) int { return cmp.Compare(a.Path, b.Path) })
	return u.list
}

type uses struct {
	target Target
	list   []Use
}

func (u *uses) add(path string, form Form, needsRestart bool, reasons ...contract.Reason) {
	reasons = append([]contract.Reason{}, reasons...)
	slices.SortFunc(reasons, func(a, b contract.Reason) int { return cmp.Compare(a.String(), b.String()) })
	u.list = append(u.list, Use{Path: path, Form: form, NeedsRestart: needsRestart, Reasons: slices.Compact(reasons)})
}

func (u *uses) container(c *container) {
	for i, e := range c.Env {
		if e.ValueFrom == nil || e.ValueFrom.SecretKeyRef == nil || e.ValueFrom.SecretKeyRef.Name != u.target.Secret {
			continue
		}
		ref := e.ValueFrom.SecretKeyRef
		var reasons []contract.Reason
		if isTrue(ref.Optional) && u.required(func(r contract.Rule) bool { return r.Name == ref.Key }) {
			reasons = append(reasons, contract.ReasonOptionalReferenceNotAllowed)
		}
		if u.absent(ref.Key) {
			reasons = append(reasons, contract.ReasonKeyNotFound)
		}
		u.add(c.path+element(".env", i, e.Name), FormEnv, true, reasons...)
	}

	for i, source := range c.EnvFrom {
		if source.SecretRef == nil || source.SecretRef.Name != u.target.Secret {
			continue
		}
		var reasons []contract.Reason
		if isTrue(source.SecretRef.Optional) && u.required(func(contract.Rule) bool { return true }) {
			reasons = append(reasons, contract.ReasonOptionalReferenceNotAllowed)
		}
		if u.required(func(r contract.Rule) bool { return !contract.PortableVariable(source.Prefix + r.Name) }) {
			reasons = append(reasons, contract.ReasonKeyNotPortable)
		}
		u.add(fmt.Sprintf("%s.envFrom[%d]", c.path, i), FormEnvFrom, true, reasons...)
	}

	for i, m := range c.VolumeMounts {
		if m.SubPath == "" && m.SubPathExpr == "" {
			continue
		}
		at := slices.IndexFunc(c.volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if at < 0 || len(sources(c.volumes[at], u.target.Secret)) == 0 {
			continue
		}
		var reasons []contract.Reason
		if m.SubPath != "" && !u.shows(c.volumes[at], m.SubPath) {
			reasons = append(reasons, contract.ReasonKeyNotFound)
		}
		u.add(fmt.Sprintf("%s.volumeMounts[%d]", c.path, i), FormSubPath, true, reasons...)
	}
}

// files returns the reasons to look at a source of files.
func (u *uses) files(s source) []contract.Reason {
	var reasons []contract.Reason
	if isTrue(s.optional) && u.required(func(contract.Rule) bool { return true }) {
		reasons = append(reasons, contract.ReasonOptionalReferenceNotAllowed)
	}
	listed := func(key string) bool {
		return slices.ContainsFunc(s.items, func(i corev1.KeyToPath) bool { return i.Key == key })
	}
	if len(s.items) > 0 && u.required(func(r contract.Rule) bool { return !listed(r.Name) }) {
		reasons = append(reasons, contract.ReasonKeyNotProjected)
	}
	if slices.ContainsFunc(s.items, func(i corev1.KeyToPath) bool { return u.absent(i.Key) }) {
		reasons = append(reasons, contract.ReasonKeyNotFound)
	}
	return reasons
}

// shows says whether a volume has something at a path. Of a volume that also shows other things it is assumed.
func (u *uses) shows(v corev1.Volume, subPath string) bool {
	if v.Projected != nil && len(v.Projected.Sources) > 1 {
		return true
	}
	subPath = path.Clean(subPath)
	if subPath == "." {
		return true
	}
	for _, s := range sources(v, u.target.Secret) {
		if len(s.items) == 0 && !u.absent(subPath) {
			return true
		}
		for _, i := range s.items {
			file := path.Clean(i.Path)
			if (file == subPath || strings.HasPrefix(file, subPath+"/")) && !u.absent(i.Key) {
				return true
			}
		}
	}
	return false
}

// required says whether a required key is such.
func (u *uses) required(such func(contract.Rule) bool) bool {
	return slices.ContainsFunc(u.target.Rules, func(r contract.Rule) bool { return r.IsRequired() && such(r) })
}

// absent says whether the Secret is known not to have a key.
func (u *uses) absent(key string) bool {
	return u.target.DataKeys != nil && !slices.Contains(u.target.DataKeys, key)
}

// A source is one place of a volume that takes files from the Secret.
type source struct {
	path     string
	form     Form
	items    []corev1.KeyToPath
	optional *bool
}

func sources(v corev1.Volume, secret string) []source {
	var s []source
	if v.Secret != nil && v.Secret.SecretName == secret {
		s = append(s, source{".secret", FormVolume, v.Secret.Items, v.Secret.Optional})
	}
	if v.Projected != nil {
		for i, p := range v.Projected.Sources {
			if p.Secret != nil && p.Secret.Name == secret {
				s = append(s, source{fmt.Sprintf(".projected.sources[%d]", i), FormProjected, p.Secret.Items, p.Secret.Optional})
			}
		}
	}
	return s
}
