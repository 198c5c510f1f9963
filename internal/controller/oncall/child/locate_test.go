package child

import (
	"encoding/json"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
)

// TestLocate holds which of a team's items is a child's own.
func TestLocate(t *testing.T) {
	want := Item{Name: "watchdog", Detail: "critical"}
	begun := &Record{Child: "uid", Era: "now", Name: "watchdog", Detail: "critical"}
	with := func(f func(*Record)) *Record {
		r := *begun
		f(&r)
		return &r
	}
	earlier := with(func(r *Record) { r.Era = "earlier" })
	item := func(id int64, name string) Item { return Item{ID: id, Name: name, Detail: "critical"} }
	type args struct {
		name   string
		record *Record
		items  []Item
		others int64
	}
	cases := map[string]struct {
		reason string
		args   args
		want   Place
	}{
		"Nothing":       {"There is nothing.", args{}, Place{}},
		"Own":           {"The external name's item is the child's, whatever somebody called it.", args{name: "7", items: []Item{item(8, "x"), item(7, "by hand")}}, Place{ID: 7}},
		"OwnRecorded":   {"So is one that it made in this team.", args{name: "7", record: begun, items: []Item{item(7, "by hand")}}, Place{ID: 7}},
		"Taken":         {"One of the name is somebody else's.", args{items: []Item{item(9, "watchdog")}}, Place{Reason: v1alpha1.ReasonConflict}},
		"NotAnID":       {"A name that is no id is reported.", args{name: "watchdog"}, Place{Reason: v1alpha1.ReasonExternalNameInvalid}},
		"Vanished":      {"What is gone is to be made again.", args{name: "7", record: begun, items: []Item{item(8, "x")}}, Place{}},
		"InFlight":      {"A create was cut off: what is exactly what was asked for is the child's.", args{record: begun, items: []Item{item(3, "x"), item(4, "watchdog")}}, Place{ID: 4, Lost: true}},
		"InFlightAgain": {"So is it when something was there before.", args{name: "7", record: with(func(r *Record) { r.Replaces = "7" }), items: []Item{item(4, "watchdog")}}, Place{ID: 4, Lost: true}},
		"InFlightOther": {"Something else of the name is not.", args{record: begun, items: []Item{{ID: 4, Name: "watchdog", Detail: "info"}}}, Place{Reason: v1alpha1.ReasonConflict}},
		"InFlightTwo":   {"Of two none is chosen.", args{record: begun, items: []Item{item(4, "watchdog"), item(5, "watchdog")}}, Place{Reason: v1alpha1.ReasonConflict}},
		"InFlightTheirs": {
			"What another object has is that one's.", args{record: begun, items: []Item{item(4, "watchdog")}, others: 4},
			Place{Reason: v1alpha1.ReasonConflict},
		},
		"InFlightSpecChanged": {
			"What was asked for counts, not what is wanted since.", args{record: with(func(r *Record) { r.Name = "before" }), items: []Item{item(4, "before")}},
			Place{ID: 4, Lost: true},
		},
		"InFlightEarlier": {"A create in an earlier team left nothing in this one.", args{record: earlier, items: []Item{item(4, "watchdog")}}, Place{Reason: v1alpha1.ReasonConflict}},
		"Earlier":         {"In a team that was made anew an id is somebody else's.", args{name: "7", record: earlier, items: []Item{item(7, "x")}}, Place{Stale: true}},
		"EarlierGone":     {"Or nobody's.", args{name: "7", record: earlier}, Place{Stale: true}},
		"EarlierKept":     {"Unless it has the name, too: then the team is the same.", args{name: "7", record: earlier, items: []Item{item(7, "watchdog")}}, Place{ID: 7}},
		"Copied":          {"A record that was copied from another object says nothing.", args{record: with(func(r *Record) { r.Child = "other" }), items: []Item{item(4, "watchdog")}}, Place{Reason: v1alpha1.ReasonConflict}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mg := &v1alpha1.DeadmanSwitch{ObjectMeta: metav1.ObjectMeta{UID: "uid"}}
			if tc.args.name != "" {
				meta.SetExternalName(mg, tc.args.name)
			}
			if tc.args.record != nil {
				b, err := json.Marshal(tc.args.record)
				if err != nil {
					t.Fatal(err)
				}
				meta.AddAnnotations(mg, map[string]string{annotationRecord: string(b)})
			}
			got := locate(mg, &Team{era: "now", Object: &v1alpha1.Team{}}, "switch", tc.args.items, want, func(i Item) bool { return i.ID == tc.args.others })
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Place{}, "Message")); diff != "" {
				t.Errorf("%s -want, +got:\n%s", tc.reason, diff)
			}
			if (got.Reason == "") != (got.Message == "") {
				t.Errorf("reason %q with message %q", got.Reason, got.Message)
			}
		})
	}
}
