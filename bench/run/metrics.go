package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// allCurrent is nil once the metrics say that every catalog's content is loaded.
func allCurrent(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	for _, name := range bigFour {
		if !strings.Contains(string(text), fmt.Sprintf(`olmgate_catalog_state{catalog=%q,state="current"} 1`, name)) {
			return fmt.Errorf("catalog %s is not current yet", name)
		}
	}
	return nil
}
