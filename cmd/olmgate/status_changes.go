package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"

	"github.com/olmgate/olmgate/resolver"
)

// changePrinter prints verdicts as they change.
type changePrinter interface {
	// first prints how it stands at the beginning.
	first([]judged) error
	added(judged) error
	// changed prints nothing when the format shows no difference.
	changed(before, now judged) error
	gone(judged) error
}

func newChangePrinter(w io.Writer, format string) changePrinter {
	switch format {
	case "json":
		return &eventPrinter{w, eventJSON}
	case "yaml":
		return &eventPrinter{w, eventYAML}
	case "wide":
		return &rowPrinter{screen: newScreen(w), columns: slices.Concat(statusColumns, statusWide)}
	}
	return &rowPrinter{screen: newScreen(w), columns: statusColumns}
}

// rowPrinter prints rows of a table. Columns become wider as rows need it.
type rowPrinter struct {
	screen  *screen
	columns []column
	grid    grid
	headed  bool
}

func (p *rowPrinter) first(list []judged) error {
	for i := range list {
		p.grid.fit(cells(p.columns, &list[i]))
	}
	for _, j := range badFirst(list) {
		if err := p.added(j); err != nil {
			return err
		}
	}
	return nil
}

func (p *rowPrinter) added(j judged) error { return p.row(cells(p.columns, &j), outcomeColour(&j)) }

func (p *rowPrinter) changed(before, now judged) error {
	if slices.Equal(cells(p.columns, &before), cells(p.columns, &now)) {
		return nil
	}
	return p.added(now)
}

// gone prints a row in which only the name and package are left, and the reason.
func (p *rowPrinter) gone(j judged) error {
	bare := judged{extension: j.extension, verdict: resolver.Verdict{
		Extension: j.verdict.Extension, Package: j.verdict.Package, Reason: "(deleted)",
		Update: &resolver.Update{Reason: resolver.NotInstalled},
	}}
	return p.row(cells(p.columns, &bare), dim)
}

// row writes a row, below the headings when it is the first.
func (p *rowPrinter) row(row []string, colour string) error {
	p.grid.fit(headings(p.columns))
	p.grid.fit(row)
	if !p.headed {
		p.headed = true
		p.screen.write(p.screen.paint(dim, p.grid.line(headings(p.columns))) + "\n")
	}
	p.screen.write(p.screen.paint(colour, p.grid.line(row)) + "\n")
	return p.screen.err
}

// event is a change for programs, in the form of the events of a Kubernetes watch.
type event struct {
	Type   watch.EventType  `json:"type"`
	Object resolver.Verdict `json:"object"`
}

// eventPrinter prints events.
type eventPrinter struct {
	w      io.Writer
	encode func(event) ([]byte, error)
}

func (p *eventPrinter) first(list []judged) error {
	for _, j := range list {
		if err := p.added(j); err != nil {
			return err
		}
	}
	return nil
}

func (p *eventPrinter) added(j judged) error { return p.event(watch.Added, j) }

func (p *eventPrinter) gone(j judged) error { return p.event(watch.Deleted, j) }

func (p *eventPrinter) changed(before, now judged) error {
	a, err := eventJSON(event{watch.Modified, before.verdict})
	if err != nil {
		return err
	}
	b, err := eventJSON(event{watch.Modified, now.verdict})
	if err != nil || bytes.Equal(a, b) {
		return err
	}
	return p.event(watch.Modified, now)
}

func (p *eventPrinter) event(t watch.EventType, j judged) error {
	raw, err := p.encode(event{t, j.verdict})
	if err != nil {
		return err
	}
	_, err = p.w.Write(raw)
	return err
}

// eventJSON is one line.
func eventJSON(e event) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// eventYAML is one document.
func eventYAML(e event) ([]byte, error) {
	raw, err := yaml.Marshal(e)
	return append([]byte("---\n"), raw...), err
}
