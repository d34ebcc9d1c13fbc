package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/olmgate/olmgate/e2e/cluster"
	"github.com/olmgate/olmgate/e2e/gate"
)

// eventuallyTimeout bounds the scenes that wait for olmgate to notice a change.
const eventuallyTimeout = 15 * time.Second

// play runs the scenes and returns what was not as expected.
func (d *demo) play(ctx context.Context, scenes []scene) (wrong []string, err error) {
	for i, s := range scenes {
		fmt.Fprintf(d.out, "\n%d. %s\n\n%s", i+1, s.title, s.command())
		answer, err := d.act(ctx, s)
		if ctx.Err() != nil {
			return wrong, ctx.Err()
		}
		fmt.Fprintln(d.out, indent(answer))
		if err != nil {
			fmt.Fprintf(d.out, "   NOT as expected: %v\n", err)
			wrong = append(wrong, fmt.Sprintf("%d. %s: %v", i+1, s.title, err))
		}
	}
	return wrong, nil
}

// act runs the scene's command, more than once where that is due, and returns
// the answer with an error when it is not the expected one.
func (d *demo) act(ctx context.Context, s scene) (answer string, err error) {
	once := func(ctx context.Context) error {
		args := s.args
		if s.manifest != "" {
			args = []string{"apply", "-f", "-"}
		}
		stdout, stderr, failure := d.cluster.Kubectl(ctx, []byte(s.manifest), args...)
		answer = strings.TrimSpace(stderr + stdout)
		return s.judge(answer, failure)
	}
	if !s.eventually {
		err = once(ctx)
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, eventuallyTimeout)
	defer cancel()
	err = cluster.Poll(ctx, once)
	return answer, err
}

// judge compares an answer with the expected one.
func (s scene) judge(answer string, failure error) error {
	byOlmgate := strings.Contains(answer, `"`+gate.WebhookName+`" denied the request`)
	switch {
	case s.denied && failure == nil:
		return errors.New("it was admitted")
	case s.denied && !byOlmgate:
		return errors.New("it was refused, but not by olmgate")
	case !s.denied && failure != nil:
		return errors.New("it was refused")
	}
	for _, text := range s.contains {
		if !strings.Contains(answer, text) {
			return fmt.Errorf("the answer does not mention %q", text)
		}
	}
	return nil
}

// command is what one would type for the scene.
func (s scene) command() string {
	if s.manifest == "" {
		words := make([]string, len(s.args))
		for i, arg := range s.args {
			words[i] = quote(arg)
		}
		return "   $ kubectl " + strings.Join(words, " ") + "\n"
	}
	return "   $ kubectl apply -f - <<EOF\n" + indent(s.manifest) + "\n   EOF\n"
}

// quote makes a word safe to paste into a shell.
func quote(word string) string {
	if !strings.ContainsAny(word, ` "{}*$&|<>()`) {
		return word
	}
	return "'" + word + "'"
}

func indent(text string) string {
	text = strings.TrimRight(text, "\n")
	return "   " + strings.ReplaceAll(text, "\n", "\n   ")
}
