package baosecret

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao/generate"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao/template"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// desired returns the values that a record should hold: those of the spec's keys, and every other key as it is. Generated values that the
// record has are kept unless they are to be rotated. The second result is false when the record holds all that already.
//
// Values of keys that come from Secrets are given. Errors name keys only.
func desired(items []v1alpha1.DataItem, existing map[string]json.RawMessage, sources map[string]string, rotate bool) (map[string]json.RawMessage, bool, error) {
	values := map[string]string{}
	for _, i := range items {
		switch {
		case i.Value != nil:
			values[i.Key] = *i.Value
		case i.ValueFrom != nil:
			values[i.Key] = sources[i.Key]
		case i.Generate != nil:
			v, err := generated(i, existing, rotate)
			if err != nil {
				return nil, false, err
			}
			values[i.Key] = v
		}
	}
	// Templates see what is no template, whatever the order of the keys.
	plain := maps.Clone(values)
	for _, i := range items {
		if i.Template == nil {
			continue
		}
		v, err := template.Render(*i.Template, plain)
		if err != nil {
			return nil, false, fmt.Errorf("key %q: %w", i.Key, err)
		}
		values[i.Key] = v
	}

	out := maps.Clone(existing)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	differs := false
	data := openbao.Data{Values: existing}
	for k, v := range values {
		if have, ok := data.Text(k); ok && have == v {
			continue
		}
		out[k] = openbao.Text(v)
		differs = true
	}
	return out, differs, nil
}

// generated returns the value of a generated key: the one that the record has, or a new one. A record that holds the key but no usable
// text is left alone: a new value would not match what is in use.
func generated(i v1alpha1.DataItem, existing map[string]json.RawMessage, rotate bool) (string, error) {
	if _, ok := existing[i.Key]; ok && !rotate {
		data := openbao.Data{Values: existing}
		v, ok := data.Text(i.Key)
		if !ok || v == "" {
			err := fmt.Errorf("key %q of the record is empty or no text: restore an earlier version, or rotate", i.Key)
			return "", connect.WithReason(err, v1alpha1.ReasonDataLost)
		}
		return v, nil
	}
	v, err := generate.Password(int(i.Generate.Length), i.Generate.Symbols)
	if err != nil {
		return "", fmt.Errorf("key %q: %w", i.Key, err)
	}
	return v, nil
}

// keysOf returns the keys of the spec, sorted.
func keysOf(items []v1alpha1.DataItem) []string {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = items[i].Key
	}
	slices.Sort(keys)
	return keys
}
