package certs

import (
	"context"
	"log/slog"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watch calls changed at each change of one object until the context ends. It lists and watches by name, which RBAC can
// limit with resourceNames.
func watch(ctx context.Context, c client.WithWatch, w watched, log *slog.Logger, changed func()) {
	options := func(o metav1.ListOptions) *client.ListOptions {
		o.FieldSelector = ""
		return &client.ListOptions{Namespace: w.namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", w.name), Raw: &o}
	}
	logger := logr.FromSlogHandler(log.Handler())
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		Logger: &logger,
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				list := w.list.DeepCopyObject().(client.ObjectList)
				return list, c.List(ctx, list, options(o))
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
				return c.Watch(ctx, w.list.DeepCopyObject().(client.ObjectList), options(o))
			},
		}, c),
		ObjectType: w.object,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { changed() },
			UpdateFunc: func(any, any) { changed() },
			DeleteFunc: func(any) { changed() },
		},
	})
	informer.RunWithContext(ctx)
}
