package check

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"

	yamlv3 "go.yaml.in/yaml/v3"
)

// converter makes values of nodes as kubectl would send them: numbers are int64 or float64.
type converter struct {
	// left is how many values are still allowed: aliases can make much of little.
	left int
	// within are the aliases that are being followed.
	within map[*yamlv3.Node]bool
	// repeated are keys that stand twice in their mapping.
	repeated []repeatedKey
}

type repeatedKey struct {
	path         string
	line, column int
}

var errTooMany = errors.New("it holds too many values once its aliases are followed")

// value is a node as JSON would have it.
func (c *converter) value(n *yamlv3.Node, path string) (any, error) {
	if c.left--; c.left < 0 {
		return nil, errTooMany
	}
	switch n.Kind {
	case yamlv3.AliasNode:
		if n.Alias == nil || c.within[n.Alias] {
			return nil, fmt.Errorf("the alias *%s contains itself", n.Value)
		}
		if c.within == nil {
			c.within = map[*yamlv3.Node]bool{}
		}
		c.within[n.Alias] = true
		v, err := c.value(n.Alias, path)
		delete(c.within, n.Alias)
		return v, err
	case yamlv3.MappingNode:
		return c.mapping(n, path)
	case yamlv3.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			v, err := c.value(item, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yamlv3.ScalarNode:
		return scalar(n), nil
	}
	return nil, errors.New("there is no value")
}

func (c *converter) mapping(n *yamlv3.Node, path string) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	own := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yamlv3.AliasNode && key.Alias != nil {
			key = key.Alias
		}
		if key.Kind != yamlv3.ScalarNode {
			return nil, fmt.Errorf("line %d: a key that is no text", key.Line)
		}
		if key.ShortTag() == "!!merge" {
			if err := c.merge(m, own, value, path); err != nil {
				return nil, err
			}
			continue
		}
		at := join(path, key.Value)
		if own[key.Value] {
			c.repeated = append(c.repeated, repeatedKey{at, n.Content[i].Line, n.Content[i].Column})
		}
		v, err := c.value(value, at)
		if err != nil {
			return nil, err
		}
		own[key.Value], m[key.Value] = true, v
	}
	return m, nil
}

// merge adds what a merge key brings, where the mapping has nothing of its own.
func (c *converter) merge(m map[string]any, own map[string]bool, from *yamlv3.Node, path string) error {
	v, err := c.value(from, path)
	if err != nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	merged := map[string]bool{}
	for _, v := range list {
		one, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("line %d: what << brings is no mapping", from.Line)
		}
		for k, v := range one {
			if !own[k] && !merged[k] {
				m[k], merged[k] = v, true
			}
		}
	}
	return nil
}

// scalar reads a scalar by the rules of YAML 1.1, as kubectl does.
func scalar(n *yamlv3.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var i int64
		if n.Decode(&i) == nil {
			return i
		}
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil {
			if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
				return int64(f)
			}
			if math.IsInf(f, 0) || math.IsNaN(f) {
				return n.Value
			}
			return f
		}
	case "!!binary":
		if raw, err := base64.StdEncoding.DecodeString(n.Value); err == nil {
			return string(raw)
		}
	case "!!str":
		if n.Style == 0 && n.Tag == "!!str" {
			switch n.Value {
			case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
				return true
			case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
				return false
			}
		}
	}
	return n.Value
}
