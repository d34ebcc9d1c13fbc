package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser is the name of a Chromium, "" for none. OLMGATE_BROWSER says which, otherwise the usual names are tried.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("OLMGATE_BROWSER"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	if os.Getenv("OLMGATE_BROWSER_REQUIRED") == "1" {
		t.Fatal("OLMGATE_BROWSER_REQUIRED=1, and there is no Chromium")
	}
	t.Skip("needs Chromium")
	return ""
}

// look opens a page as a person would, and returns what the browser prints.
func look(t *testing.T, program, page string, width, height int, dark bool, more ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	scheme := "1"
	if dark {
		scheme = "0"
	}
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--user-data-dir=" + t.TempDir(), "--blink-settings=preferredColorScheme=" + scheme,
		fmt.Sprintf("--window-size=%d,%d", width, height),
	}, more...)
	cmd := exec.CommandContext(ctx, program, append(args, "file://"+page)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return out
}

// probe measures the page after layout and puts the result into it. It is only in the copy that the test opens, whose
// policy for content is taken out.
const probe = `<script>
addEventListener("load", () => {
  const wide = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll("body *")].filter(e => !e.closest("svg,.skip,thead") && e.getBoundingClientRect().right > wide + 1)
    .map(e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40));
  const graphs = [...document.querySelectorAll("svg.graph")].map(s => {
    const box = s.viewBox.baseVal, bad = [];
    for (const e of s.querySelectorAll("text,.node,circle,path")) {
      const b = e.getBBox(), m = s.getScreenCTM().inverse().multiply(e.getScreenCTM());
      for (const [x, y] of [[b.x, b.y], [b.x + b.width, b.y + b.height]]) {
        const p = new DOMPoint(x, y).matrixTransform(m);
        if (p.x < -1 || p.y < -1 || p.x > box.width + 1 || p.y > box.height + 1) bad.push(e.tagName + " " + e.textContent.slice(0, 30));
      }
    }
    const texts = [...s.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);
    const over = [];
    texts.forEach(([t, a], i) => texts.slice(i + 1).forEach(([u, b]) => {
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) over.push(t + " / " + u);
    }));
    return {width: s.getBoundingClientRect().width, nodes: s.querySelectorAll(".node").length, outside: bad, overlap: over};
  });
  const links = [...document.querySelectorAll("a,summary")].filter(e => e.tabIndex < 0).length;
  parent.postMessage(JSON.stringify({width: innerWidth, scroll: document.documentElement.scrollWidth, out, graphs, unreachable: links,
    background: getComputedStyle(document.body).backgroundColor}), "*");
});
</script>`

// frame holds a page at a width, since Chromium makes no window narrower than 500 pixels. It writes down what the page
// measures.
const frame = `<!DOCTYPE html><meta name="color-scheme" content="light dark"><style>body{margin:0}iframe{border:0;display:block}</style>
<script>addEventListener("message", e => { const pre = document.createElement("pre"); pre.id = "measured"; pre.textContent = e.data; document.body.append(pre) })</script>
<body><iframe src="%s" width="%d" height="%d"></iframe></body>`

// framed writes a page that holds another one.
func framed(t *testing.T, page string, width, height int) string {
	t.Helper()
	file := strings.TrimSuffix(page, ".html") + fmt.Sprintf(".%d.html", width)
	write(t, file, fmt.Sprintf(frame, filepath.Base(page), width, height))
	return file
}

type measured struct {
	Width       int      `json:"width"`
	Scroll      int      `json:"scroll"`
	Out         []string `json:"out"`
	Unreachable int      `json:"unreachable"`
	Background  string   `json:"background"`
	Graphs      []struct {
		Width   float64  `json:"width"`
		Nodes   int      `json:"nodes"`
		Outside []string `json:"outside"`
		Overlap []string `json:"overlap"`
	} `json:"graphs"`
}

var measuredPattern = regexp.MustCompile(`(?s)<pre id="measured">(.*?)</pre>`)

func measure(t *testing.T, program, page string, width int, dark bool) (m measured) {
	t.Helper()
	dom := look(t, program, framed(t, page, width, 900), width, 900, dark, "--dump-dom")
	found := measuredPattern.FindSubmatch(dom)
	if found == nil {
		t.Fatalf("the page has no measurements: %.2000s", dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestInABrowser opens the pages in Chromium, at the widths of a phone and of a desk, in light and in dark.
func TestInABrowser(t *testing.T) {
	program := browser(t)
	dir := t.TempDir()
	if keep := os.Getenv("OLMGATE_BROWSER_DIR"); keep != "" {
		if err := os.MkdirAll(keep, 0o755); err != nil {
			t.Fatal(err)
		}
		dir = keep
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`)
	for name, r := range map[string]*Report{"sample": sample(t), "large": largeReport(t), "empty": empty()} {
		text := render(t, "html", r, options)
		page, probed := filepath.Join(dir, name+".html"), filepath.Join(dir, name+".probed.html")
		write(t, page, text)
		// Details are opened, so that the tables are measured too.
		opened := strings.ReplaceAll(policy.ReplaceAllString(text, ""), `<details class="bundles">`, `<details class="bundles" open>`)
		write(t, probed, strings.Replace(opened, "</head>", probe+"</head>", 1))
		for _, width := range []int{360, 1280} {
			for _, dark := range []bool{false, true} {
				if dark && name != "sample" {
					continue // colours are the same on every page
				}
				shade := map[bool]string{true: "dark", false: "light"}[dark]
				t.Run(fmt.Sprintf("%s at %d in %s", name, width, shade), func(t *testing.T) {
					m := measure(t, program, probed, width, dark)
					check(t, m, width, dark)
					shot := filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, shade))
					look(t, program, framed(t, page, width, 2600), width, 2600, dark, "--screenshot="+shot)
					picture(t, shot, width, dark)
				})
			}
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, m measured, width int, dark bool) {
	t.Helper()
	if m.Width != width {
		t.Fatalf("the browser made the page %d wide", m.Width)
	}
	if m.Scroll > width || len(m.Out) > 0 {
		t.Errorf("the page is %d wide on a screen of %d: %q", m.Scroll, width, m.Out)
	}
	if m.Unreachable > 0 {
		t.Errorf("%d links cannot be reached with the keyboard", m.Unreachable)
	}
	for i, g := range m.Graphs {
		if len(g.Outside) > 0 || len(g.Overlap) > 0 || g.Nodes == 0 {
			t.Errorf("graph %d: %d nodes; outside: %q; on each other: %q", i, g.Nodes, g.Outside, g.Overlap)
		}
	}
	want := "rgb(246, 248, 250)"
	if dark {
		want = "rgb(14, 17, 22)"
	}
	if m.Background != want {
		t.Errorf("the background is %s, want %s", m.Background, want)
	}
}

// picture looks at the corner of a screenshot, and makes sure that there is something on it.
func picture(t *testing.T, file string, width int, dark bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if img = cropped(img, width); img.Bounds().Dx() != width {
		t.Errorf("the screenshot is %d wide, want %d", img.Bounds().Dx(), width)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	write(t, file, b.String())
	if corner := light(img.At(2, 2)); (corner < 60) != dark {
		t.Errorf("the corner has a lightness of %d", corner)
	}
	if n := shades(img); n < 10 {
		t.Errorf("the screenshot has %d shades only", n)
	}
}

// cropped is the part of a screenshot that shows the page.
func cropped(img image.Image, width int) image.Image {
	return img.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(image.Rect(0, 0, width, img.Bounds().Dy()))
}

func light(c color.Color) int {
	r, g, b, _ := c.RGBA()
	return int((r + g + b) / 3 >> 8)
}

func shades(img image.Image) int {
	seen := map[int]bool{}
	for y := 0; y < min(600, img.Bounds().Dy()); y++ {
		for x := 0; x < img.Bounds().Dx(); x++ {
			seen[light(img.At(x, y))] = true
		}
	}
	return len(seen)
}
