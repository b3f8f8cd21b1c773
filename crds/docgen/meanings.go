package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
)

// readMeanings returns what each reason means, by the reason: the comment of its constant from "surfaces" on.
func readMeanings(dir string) (map[string]string, error) {
	onlySource := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), dir, onlySource, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("reading the comments of the reasons: %w", err)
	}
	meanings := map[string]string{}
	for _, parsed := range packages {
		for _, file := range parsed.Files {
			ast.Inspect(file, func(node ast.Node) bool {
				if spec, ok := node.(*ast.ValueSpec); ok {
					addMeaning(meanings, spec)
				}
				return true
			})
		}
	}
	return meanings, nil
}

func addMeaning(meanings map[string]string, spec *ast.ValueSpec) {
	if len(spec.Names) != 1 || len(spec.Values) != 1 || spec.Doc == nil {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return
	}
	comment := strings.Join(strings.Fields(spec.Doc.Text()), " ")
	_, meaning, _ := strings.Cut(comment, " surfaces ")
	meanings[value] = meaning
}
