// The program that holds the namespaces of a Pod, with no dependencies at all.
module github.com/olmgate/olmgate/e2e/tools/pause

go 1.26.0
