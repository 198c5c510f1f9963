package observability

import (
	"strings"
	"testing"
)

// TestDashboard holds that the dashboard is one that Grafana shows as it is meant: each panel asks the data source that was chosen, says what
// it shows, and stands where no other one does; and each variable is used.
func TestDashboard(t *testing.T) {
	d, err := ReadDashboard(root)
	if err != nil {
		t.Fatal(err)
	}
	ids, taken, exprs := map[int]bool{}, map[[2]int]string{}, []string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: the id is another one's, or there is no title", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.Place.X; x < p.Place.X+p.Place.W; x++ {
			for y := p.Place.Y; y < p.Place.Y+p.Place.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok {
					t.Fatalf("panel %q lies on %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Place.X+p.Place.W > 24 {
			t.Errorf("panel %q is wider than the dashboard", p.Title)
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q says or shows nothing", p.Title)
		}
		refs := map[string]bool{}
		for _, q := range p.Targets {
			if q.Datasource != p.Datasource || q.Datasource.UID != "${datasource}" || refs[q.RefID] {
				t.Errorf("panel %q: query %s asks another data source, or has the name of another one", p.Title, q.RefID)
			}
			refs[q.RefID] = true
			exprs = append(exprs, q.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" && !strings.Contains(strings.Join(exprs, "\n"), "$"+v.Name) {
			t.Errorf("variable %s is not used", v.Name)
		}
	}
	if len(exprs) < 20 {
		t.Errorf("only %d queries were found", len(exprs))
	}
}
