package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// reasons are where the conditions of a kind are explained. Kinds that are not listed have no conditions.
var reasons = map[string]string{
	"Tenant":                "../operations.md#tenant",
	"TerdutServer":          "../operations.md#terdutserver",
	"SecretContract":        "../secretcontract.md#reasons",
	"SecretCheck":           "../secretcontract.md#reasons",
	"PGDatabase":            "../operations.md#pgdatabase",
	"BaoSecret":             "../operations.md#baosecret",
	"Policy":                "../operations.md#policy-kubernetesauthrole-approle",
	"KubernetesAuthRole":    "../operations.md#policy-kubernetesauthrole-approle",
	"AppRole":               "../operations.md#policy-kubernetesauthrole-approle",
	"Bootstrap":             "../operations.md#bootstrap",
	"Team":                  "../operations.md#team",
	"EscalationPolicy":      "../operations.md#escalationpolicy-deadmanswitch-integration",
	"DeadmanSwitch":         "../operations.md#escalationpolicy-deadmanswitch-integration",
	"Integration":           "../operations.md#escalationpolicy-deadmanswitch-integration",
	"ProviderConfig":        "../operations.md#provider-configs",
	"ClusterProviderConfig": "../operations.md#provider-configs",
}

// standard fields mean the same in every kind of Kubernetes.
var standard = []string{"apiVersion", "kind", "metadata"}

// markdown is the section of a kind. It fails when the kind has conditions and nobody knows where they are explained.
func (k kind) markdown() (string, error) {
	b := strings.Builder{}
	for i := range k.Spec.Versions {
		v := &k.Spec.Versions[i]
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		s := v.Schema.OpenAPIV3Schema
		_, conditions := s.Properties["status"].Properties["conditions"]
		explained := reasons[k.Spec.Names.Kind]
		if conditions && explained == "" {
			return "", fmt.Errorf("cannot link the conditions of %s: say in reasons where they are explained", k.Spec.Names.Kind)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", k.Spec.Names.Kind, paragraph(s.Description))
		fmt.Fprintf(&b, "`apiVersion: %s/%s`, %s. %s\n", k.Spec.Group, v.Name, strings.ToLower(string(k.Spec.Scope)), k.commands(v))
		if r := rules(s); len(r) > 0 {
			fmt.Fprintf(&b, "\nOf the whole object: %s.\n", strings.Join(r, "; "))
		}
		for _, part := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(standard, part) {
				continue
			}
			p := s.Properties[part]
			w := walker{kind: k.Spec.Names.Kind, explained: explained}
			w.object(part, &p)
			fmt.Fprintf(&b, "\n### %s: %s\n\n", k.Spec.Names.Kind, part)
			if r := rules(&p); len(r) > 0 {
				fmt.Fprintf(&b, "Of the whole `%s`: %s.\n\n", part, strings.Join(r, "; "))
			}
			b.WriteString("| field | type | default | limits | |\n| --- | --- | --- | --- | --- |\n")
			b.WriteString(w.rows.String())
		}
		if explained != "" && !conditions {
			fmt.Fprintf(&b, "\nCrossplane adds `spec.crossplane`, and `status.conditions`: [their reasons](%s).\n", explained)
		}
	}
	return b.String(), nil
}

// commands says how kubectl calls the kind and what it shows of it.
func (k kind) commands(v *extv1.CustomResourceDefinitionVersion) string {
	n := k.Spec.Names
	names := make([]string, 0, 1+len(n.ShortNames))
	for _, s := range append([]string{n.Plural}, n.ShortNames...) {
		names = append(names, "`"+s+"`")
	}
	out := "For kubectl: " + strings.Join(names, ", ")
	if len(n.Categories) > 0 {
		out += ", in the categories `" + strings.Join(n.Categories, "`, `") + "`"
	}
	var columns, wide []string
	for _, c := range v.AdditionalPrinterColumns {
		if c.Priority > 0 {
			wide = append(wide, c.Name)
			continue
		}
		columns = append(columns, c.Name)
	}
	if len(columns) > 0 {
		out += "; columns " + strings.Join(columns, ", ")
	}
	if len(wide) > 0 {
		out += "; with `-o wide` also " + strings.Join(wide, ", ")
	}
	return out + "."
}
