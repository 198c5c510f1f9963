// Command promql evaluates queries with Prometheus' own engine over samples that it is given, and checks files of rules as Prometheus does
// when it loads them. The engine's dependencies would lift those of the provider, so it is a tool.
//
//	promql check FILE...   prints what is wrong with files of rules
//	promql query           reads a request from standard input and writes its answer to standard output, both JSON
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// A request of queries over series.
type request struct {
	Series  []series `json:"series"`
	Queries []query  `json:"queries"`
}

// A series of samples, in the order of their times.
type series struct {
	Labels  map[string]string `json:"labels"`
	Samples []sample          `json:"samples"`
}

// A sample has its time in milliseconds, and its value as Prometheus writes it: JSON has no NaN.
type sample struct {
	At    int64  `json:"at"`
	Value string `json:"value"`
}

// A query is evaluated at each step from Start to End, which are milliseconds.
type query struct {
	Expr  string `json:"expr"`
	Start int64  `json:"start"`
	End   int64  `json:"end"`
	Step  int64  `json:"step"`
	// Operand asks for what the query compares with a number, or whether it is absent, rather than for the outcome: an alert's expression
	// has an outcome only when something is wrong.
	Operand bool `json:"operand"`
}

// An answer to a query: the names of the metrics in it, and its series or what is wrong with it.
type answer struct {
	Metrics []string `json:"metrics,omitempty"`
	Error   string   `json:"error,omitempty"`
	Series  []series `json:"series,omitempty"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "promql:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) > 1 && args[0] == "check":
		for _, f := range args[1:] {
			if _, errs := rulefmt.ParseFile(f, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.NewTextHandler(os.Stderr, nil))); len(errs) > 0 {
				return fmt.Errorf("rules of %q are wrong: %w", f, errs[0])
			}
		}
		return nil
	case len(args) == 1 && args[0] == "query":
		r := request{}
		if err := json.NewDecoder(in).Decode(&r); err != nil {
			return fmt.Errorf("cannot read request: %w", err)
		}
		answers, err := evaluate(context.Background(), r)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(answers)
	}
	return errors.New("usage: promql check FILE... | promql query")
}

// evaluate each query. What is wrong with one is its answer.
func evaluate(ctx context.Context, r request) ([]answer, error) {
	from, err := newMemory(r.Series)
	if err != nil {
		return nil, err
	}
	e := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, // Prometheus' own defaults.
		EnableAtModifier: true, EnableNegativeOffset: true,
	})
	answers := make([]answer, len(r.Queries))
	for i, q := range r.Queries {
		a, err := one(ctx, e, from, q)
		if err != nil {
			a.Error = err.Error()
		}
		answers[i] = a
	}
	return answers, nil
}

// one query's answer.
func one(ctx context.Context, e *promql.Engine, from memory, q query) (answer, error) {
	a := answer{}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(q.Expr)
	if err != nil {
		return a, err
	}
	if q.Operand {
		expr = operand(expr)
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok && !slices.Contains(a.Metrics, v.Name) {
			a.Metrics = append(a.Metrics, v.Name)
		}
		return nil
	})
	query, err := e.NewRangeQuery(ctx, from, nil, expr.String(), time.UnixMilli(q.Start), time.UnixMilli(q.End), time.Duration(q.Step)*time.Millisecond)
	if err != nil {
		return a, err
	}
	defer query.Close()
	m, err := query.Exec(ctx).Matrix()
	if err != nil {
		return a, err
	}
	for _, s := range m {
		o := series{Labels: s.Metric.Map()}
		for _, p := range s.Floats {
			o.Samples = append(o.Samples, sample{At: p.T, Value: strconv.FormatFloat(p.F, 'g', -1, 64)})
		}
		a.Series = append(a.Series, o)
	}
	return a, nil
}

// operand of an expression that is a comparison with a number, or about something that is absent; else the expression.
func operand(e parser.Expr) parser.Expr {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return operand(n.Expr)
	case *parser.BinaryExpr:
		if _, number := n.RHS.(*parser.NumberLiteral); number && n.Op.IsComparisonOperator() {
			return n.LHS
		}
	case *parser.Call:
		if n.Func.Name == "absent" {
			return n.Args[0]
		}
	}
	return e
}

// labelsOf a series, sorted as the engine wants them.
func (s series) labelsOf() labels.Labels { return labels.FromMap(s.Labels) }
