// Package load asks a cluster about ClusterExtensions at a steady rate and knows
// what each answer must be, to show what happens to requests while something
// changes: a certificate, a replica, a whole rollout.
//
// Nothing is stored: every request is a create with server-side dry run, which
// the API server admits, webhooks included, and then forgets.
//
//	l, err := load.Start(ctx, config, load.Options{Cases: []load.Case{
//		{Object: load.Extension("fine", "kiln-operator")},
//		{Object: load.Extension("tied", "argocd-operator"), Denied: "AmbiguousCatalogs"},
//	}})
//	...
//	if err := l.Pass(ctx, 100); err != nil { ... } // 100 requests more were answered
//	...
//	result := l.Stop()
//	fmt.Println(result) // requests=1500 failed=0 wrong=0
//
// With failurePolicy Ignore a webhook that does not answer shows as wrong (what
// must be denied is allowed), with Fail as failed: set Fail to see every failure.
package load
