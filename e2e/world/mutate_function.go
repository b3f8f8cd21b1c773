package world

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// editFunction edits the body of a function of the package in a directory.
func editFunction(root string, e Edit, out Overlay) error {
	paths, err := filepath.Glob(filepath.Join(root, e.File, "*.go"))
	if err != nil {
		return fmt.Errorf("listing package %s: %w", e.File, err)
	}
	found := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := filepath.Join(e.File, filepath.Base(path))
		content, err := out.source(root, file)
		if err != nil {
			return err
		}
		from, to, err := bodyOf(content, e.Func)
		if err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		if to == 0 {
			continue
		}
		found++
		body := append([]byte("\n"+e.To+"\n"), content[from:to]...)
		if e.From != "" {
			if body, err = replaceOnce(content[from:to], file+": "+e.Func, e); err != nil {
				return err
			}
		}
		out[file] = bytes.Join([][]byte{content[:from], body, content[to:]}, nil)
	}
	if found != 1 {
		return fmt.Errorf("package %s has %d functions %s, not one: update the edit", e.File, found, e.Func)
	}
	return nil
}

// bodyOf returns where the body of a function begins and ends, without its braces; zeros if the file does not have it.
func bodyOf(content []byte, name string) (from, to int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, 0)
	if err != nil {
		return 0, 0, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && nameOf(f) == name {
			return set.Position(f.Body.Lbrace).Offset + 1, set.Position(f.Body.Rbrace).Offset, nil
		}
	}
	return 0, 0, nil
}

// nameOf returns the name of a function, with the type of its receiver.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	if receiver, ok := t.(*ast.Ident); ok {
		return receiver.Name + "." + f.Name.Name
	}
	return f.Name.Name
}
