package names

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestDatabase(t *testing.T) {
	long := strings.Repeat("a", 63)

	type args struct {
		namespace string
		name      string
	}
	cases := map[string]struct {
		reason string
		args   args
		want   string
	}{
		"Plain": {
			reason: "A name that nothing has to be changed in has no hash.",
			args:   args{namespace: "shop", name: "orders"},
			want:   "shop_orders",
		},
		"Folded": {
			reason: "A dash is folded, and the hash says so.",
			args:   args{namespace: "shop", name: "orders-eu"},
			want:   "shop_orders_eu_" + hash("shop", "orders-eu"),
		},
		"Longest": {
			reason: "63 bytes are not too many.",
			args:   args{namespace: "shop", name: strings.Repeat("b", 58)},
			want:   "shop_" + strings.Repeat("b", 58),
		},
		"Shortened": {
			reason: "Both parts remain recognisable.",
			args:   args{namespace: long, name: "orders"},
			want:   strings.Repeat("a", 26) + "_orders_" + hash(long, "orders"),
		},
		"BothShortened": {
			reason: "Two long parts are both cut.",
			args:   args{namespace: long, name: long},
			want:   strings.Repeat("a", 26) + "_" + strings.Repeat("a", 25) + "_" + hash(long, long),
		},
		"Reserved": {
			reason: "PostgreSQL refuses roles that begin with pg_.",
			args:   args{namespace: "pg", name: "orders"},
			want:   "tenant_pg_orders_" + hash("pg", "orders"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Database(tc.args.namespace, tc.args.name)); diff != "" {
				t.Errorf("\n%s\nDatabase(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDistinct draws many legal inputs that are built to collide and looks for two Tenants with one name.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	legal := regexp.MustCompile(`^[a-z0-9_]+$`)
	databases, paths, accesses := map[string]string{}, map[string]string{}, map[string]string{}

	for range 60_000 {
		ns, name := drawLabel(r), drawSubdomain(r)
		id := ns + "/" + name
		db, path, access := Database(ns, name), Path(ns, name), Access(ns, name)

		if len(db) > MaxIdentifier || !legal.MatchString(db) || strings.HasPrefix(db, "pg_") {
			t.Fatalf("Database(%q, %q): %q is not a legal name", ns, name, db)
		}
		if other, ok := databases[db]; ok && other != id {
			t.Fatalf("Database(...): %q and %q are both %q", other, id, db)
		}
		if other, ok := paths[path]; ok && other != id {
			t.Fatalf("Path(...): %q and %q are both %q", other, id, path)
		}
		if other, ok := accesses[access]; ok && other != id {
			t.Fatalf("Access(...): %q and %q are both %q", other, id, access)
		}
		databases[db], paths[path], accesses[access] = id, id, id
	}
}

// TestHashedAndPlainNeverMeet builds Tenants whose plain name imitates another one's hashed name.
func TestHashedAndPlainNeverMeet(t *testing.T) {
	for length := range 64 {
		ns := strings.Repeat("a", max(1, length))
		victim := Database(ns, "x-y")
		for i := 1; i < len(victim)-1; i++ {
			if victim[i] != '_' {
				continue
			}
			imitated := Database(victim[:i], victim[i+1:])
			if imitated == victim && !strings.Contains(victim[:i]+victim[i+1:], "_") {
				t.Errorf("Database(...): %q can be imitated", victim)
			}
		}
	}
}

func TestSecret(t *testing.T) {
	if diff := cmp.Diff("orders-db", Secret("orders")); diff != "" {
		t.Errorf("Secret(...): -want, +got:\n%s", diff)
	}
	seen := map[string]string{}
	for i := range 100 {
		for _, length := range []int{1, 50, 230, 236, 237, 238, 239, 245, 248} {
			name := fmt.Sprintf("%s.%d", strings.Repeat("a", length), i)
			got := Secret(name)
			if errs := validation.IsDNS1123Subdomain(got); len(errs) > 0 {
				t.Errorf("Secret(%q): %q is not a legal name: %v", name, got, errs)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("Secret(...): %q and %q are both %q", other, name, got)
			}
			seen[got] = name
		}
	}
}

func TestComposed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	for i := range 10_000 {
		name, uid := drawSubdomain(r), fmt.Sprintf("uid-%d", i)
		for _, resource := range []string{"database", "credential", "external-secret"} {
			got := Composed(name, uid, resource)
			if errs := validation.IsDNS1123Subdomain(got); len(errs) > 0 || len(got) > 63 {
				t.Fatalf("Composed(%q, ...): %q is not a legal name: %v", name, got, errs)
			}
			if seen[got] {
				t.Fatalf("Composed(%q, ...): %q is not unique", name, got)
			}
			seen[got] = true
		}
	}
}

// drawLabel draws a legal name of a namespace. Few letters and many dashes make collisions likely.
func drawLabel(r *rand.Rand) string {
	return draw(r, "ab-", 1+r.IntN([]int{4, 10, 63}[r.IntN(3)]))
}

// drawSubdomain draws a legal name of an object.
func drawSubdomain(r *rand.Rand) string {
	return draw(r, "ab-.", 1+r.IntN([]int{4, 10, 63, 253}[r.IntN(4)]))
}

// draw a string that begins and ends with a letter, and in which no dot stands beside a dot or dash.
func draw(r *rand.Rand, alphabet string, length int) string {
	b := make([]byte, length)
	for i := range b {
		edge := i == 0 || i == length-1
		if !edge && b[i-1] != '.' && b[i-1] != '-' {
			b[i] = alphabet[r.IntN(len(alphabet))]
			continue
		}
		b[i] = alphabet[r.IntN(2)]
	}
	return string(b)
}
