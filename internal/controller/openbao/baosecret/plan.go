package baosecret

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao/generate"
	"github.com/ryuvia/provider-terdut/internal/clients/openbao/template"
	"github.com/ryuvia/provider-terdut/internal/connect"
)

// A demand is what a record's values are made from.
type demand struct {
	items []v1alpha1.DataItem
	// existing values of the record.
	existing map[string]json.RawMessage
	// sources are the values that come from Secrets, by key.
	sources map[string]string
	// lost are generated keys that the record had.
	lost []string
	// rotate makes every generated value anew.
	rotate bool
	// recreate allows to make generated values anew that were lost.
	recreate bool
}

// desired returns the values that a record should hold: those of the spec's keys, and every other key as it is. Generated values that the
// record has are kept unless they are to be rotated. The second result is false when the record holds all that already.
//
// Errors name keys only.
func desired(d demand) (map[string]json.RawMessage, bool, error) {
	values := map[string]string{}
	for _, i := range d.items {
		switch {
		case i.Value != nil:
			values[i.Key] = *i.Value
		case i.ValueFrom != nil:
			values[i.Key] = d.sources[i.Key]
		case i.Generate != nil:
			v, err := d.generated(i)
			if err != nil {
				return nil, false, err
			}
			values[i.Key] = v
		}
	}
	// Templates see what is no template, whatever the order of the keys.
	plain := maps.Clone(values)
	for _, i := range d.items {
		if i.Template == nil {
			continue
		}
		v, err := template.Render(*i.Template, plain)
		if err != nil {
			return nil, false, fmt.Errorf("key %q: %w", i.Key, err)
		}
		values[i.Key] = v
	}

	out := maps.Clone(d.existing)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	differs := false
	data := openbao.Data{Values: d.existing}
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
// text, or that had it, is left alone: a new value would not match what is in use.
func (d demand) generated(i v1alpha1.DataItem) (string, error) {
	data := openbao.Data{Values: d.existing}
	have, ok := data.Text(i.Key)
	usable := ok && have != ""
	_, there := d.existing[i.Key]
	lost := there && !usable || slices.Contains(d.lost, i.Key)
	switch {
	case d.rotate:
	case usable:
		return have, nil
	case lost && !d.recreate:
		err := fmt.Errorf("generated key %q of the record has vanished, or is empty or no text: restore an earlier version, rotate, "+
			"or have an admin allow a new value with recreate in the provider config's adoptions", i.Key)
		return "", connect.WithReason(err, v1alpha1.ReasonDataLost)
	}
	v, err := generate.Password(int(i.Generate.Length), i.Generate.Symbols)
	if err != nil {
		return "", fmt.Errorf("key %q: %w", i.Key, err)
	}
	return v, nil
}

// generatedKeys returns the keys of data whose values the spec has generated, as they are noted on the record: a mark of six characters for each
// key, because what the server takes as one value is too short for the names of all keys.
func generatedKeys(items []v1alpha1.DataItem, data map[string]json.RawMessage) string {
	var marks []string
	for _, i := range items {
		if _, ok := data[i.Key]; ok && i.Generate != nil {
			marks = append(marks, keyMark(i.Key))
		}
	}
	slices.Sort(marks)
	return strings.Join(marks, " ")
}

// lostKeys returns the generated keys of the spec that the record had and has not.
func lostKeys(items []v1alpha1.DataItem, r *record) []string {
	if r.metadata == nil || r.metadata.CurrentVersion == 0 {
		return nil
	}
	marks := strings.Fields(r.metadata.CustomMetadata[tagGenerated])
	var lost []string
	for _, i := range items {
		if _, ok := r.data[i.Key]; !ok && i.Generate != nil && slices.Contains(marks, keyMark(i.Key)) {
			lost = append(lost, i.Key)
		}
	}
	return lost
}

// keyMark is the mark of a key. Two keys with the same one are so unlikely that it matters only that nothing is lost then.
func keyMark(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:4])
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
