// Package template renders values of a record that are made of its other values, such as connection strings.
//
// It is a small part of text/template: text, {{ .key }}, {{ index . "key" }} and a fixed list of functions. There are no conditions, loops
// or definitions, so that the work and the output of a template that a tenant wrote are bounded. No error tells anything about the
// values, nor quotes the template.
package template

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
	"text/template/parse"
)

// Bounds in bytes: of a template, and of its output and everything on the way to it.
const (
	maxTemplate = 16 << 10
	maxOutput   = 256 << 10
)

// ErrExecute is the only error for a template that parses but cannot be executed with the values there are.
var ErrExecute = errors.New("template cannot be executed: a key that it names is missing, an argument has the wrong type, or the output is too large")

var errTooLarge = errors.New("output is too large")

// Check says whether a text is a template that Render takes. An error names at most a line.
func Check(text string) error {
	_, err := compile(text)
	return err
}

// Render a template with the values of a record by key. The error is Check's or ErrExecute.
func Render(text string, data map[string]string) (string, error) {
	t, err := compile(text)
	if err != nil {
		return "", err
	}
	var out output
	if err := t.Execute(&out, data); err != nil {
		return "", ErrExecute
	}
	return out.String(), nil
}

// output is bounded, and ends the execution when it is full.
type output struct{ strings.Builder }

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > maxOutput {
		return 0, errTooLarge
	}
	return o.Builder.Write(p)
}

func compile(text string) (*template.Template, error) {
	if text == "" || len(text) > maxTemplate {
		return nil, fmt.Errorf("template must have 1 to %d bytes", maxTemplate)
	}
	// Parsing with our functions alone leaves out those that text/template brings, such as printf.
	trees, err := parse.Parse("t", text, "", "", functions)
	if err != nil {
		return nil, fmt.Errorf("template does not parse%s", line(err))
	}
	tree := trees["t"]
	if len(trees) != 1 || tree == nil {
		return nil, errors.New("template must not define other templates")
	}
	for _, n := range tree.Root.Nodes {
		if !allowed(n) {
			return nil, fmt.Errorf(`template may only use {{ .key }}, {{ index . "key" }} and the functions %s`, functionNames)
		}
	}
	t, err := template.New("t").Funcs(functions).Option("missingkey=error").AddParseTree("t", tree)
	if err != nil {
		return nil, errors.New("template cannot be compiled")
	}
	return t, nil
}

var lineNumber = regexp.MustCompile(`^template: t:(\d+)`)

// line returns where a parse error is, and nothing else of it.
func line(err error) string {
	if m := lineNumber.FindStringSubmatch(err.Error()); m != nil {
		return " at line " + m[1]
	}
	return ""
}

// allowed says whether a part of a template is one of the few that are needed.
func allowed(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.TextNode, *parse.CommentNode:
		return true
	case *parse.ActionNode:
		return allowed(n.Pipe)
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return false
		}
		for _, c := range n.Cmds {
			if !allowedCommand(c) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

func allowedCommand(c *parse.CommandNode) bool {
	switch first := c.Args[0].(type) {
	case *parse.FieldNode:
		return len(first.Ident) == 1 && len(c.Args) == 1
	case *parse.PipeNode:
		return len(c.Args) == 1 && allowed(first)
	case *parse.IdentifierNode:
		for _, a := range c.Args[1:] {
			switch a := a.(type) {
			case *parse.DotNode, *parse.StringNode:
			case *parse.FieldNode:
				if len(a.Ident) != 1 {
					return false
				}
			case *parse.PipeNode:
				if !allowed(a) {
					return false
				}
			default:
				return false
			}
		}
		return true
	default:
		return false
	}
}
