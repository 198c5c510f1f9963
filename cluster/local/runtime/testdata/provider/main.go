// Command provider prints who the API server says it is, and waits to be stopped.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := ctrl.GetConfig()
	if err != nil {
		panic(err)
	}
	me, err := kubernetes.NewForConfigOrDie(cfg).AuthenticationV1().SelfSubjectReviews().Create(
		ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("user=%s namespace=%s args=%v\n", me.Status.UserInfo.Username, os.Getenv("POD_NAMESPACE"), os.Args[1:])
	<-ctx.Done()
}
