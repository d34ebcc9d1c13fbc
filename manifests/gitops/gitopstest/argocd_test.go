package gitopstest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

// What Argo CD calls the states of a resource.
const (
	healthy     = "Healthy"
	progressing = "Progressing"
	degraded    = "Degraded"
)

// argoHealth is what a script returns.
type argoHealth struct{ Status, Message string }

// runLua runs a script as Argo CD 3 does where useOpenLibs is not set: only the libraries package, base and table, one
// second, the object as the global obj, a table as the answer. Argo CD also offers os.time and os.date; a script that
// uses them fails here.
func runLua(script string, object map[string]any) (argoHealth, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(lib.open), Protect: true}, lua.LString(lib.name)); err != nil {
			return argoHealth{}, fmt.Errorf("opening the library %q: %w", lib.name, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", luaValue(l, object))
	if err := l.DoString(script); err != nil {
		return argoHealth{}, fmt.Errorf("running the script: %w", err)
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return argoHealth{}, fmt.Errorf("the script returns a %s, must be a table", l.Get(-1).Type())
	}
	text, err := luajson.Encode(table)
	if err != nil {
		return argoHealth{}, fmt.Errorf("encoding what the script returns: %w", err)
	}
	var h argoHealth
	if err := json.Unmarshal(text, &h); err != nil {
		return argoHealth{}, fmt.Errorf("decoding what the script returns: %w", err)
	}
	if !slices.Contains([]string{healthy, progressing, degraded}, h.Status) {
		return argoHealth{}, fmt.Errorf("the script returns the status %q", h.Status)
	}
	return h, nil
}

// luaValue turns a decoded object into a Lua value. As in Argo CD, numbers are numbers and an element null is left out.
func luaValue(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case string:
		return lua.LString(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case []any:
		table := l.NewTable()
		for _, element := range v {
			table.Append(luaValue(l, element))
		}
		return table
	case map[string]any:
		table := l.NewTable()
		for key, element := range v {
			table.RawSetString(key, luaValue(l, element))
		}
		return table
	}
	return lua.LNil
}
