// Reads manifests, a JSON array, and decodes each into the type of its kind. A kind that is not listed, a member that the type does not
// have, one that stands twice and a value of another type are errors; so is a duration, quantity or port that cannot be read.
// Prints one line for each manifest with an error; exit code 1 when there is one.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
)

var groups = []func(*runtime.Scheme) error{
	apps.AddToScheme,
	autoscaling.AddToScheme,
	batch.AddToScheme,
	core.AddToScheme,
	networking.AddToScheme,
	policy.AddToScheme,
	certmanager.AddToScheme,
	gateway.Install,
	monitoring.AddToScheme,
}

type named struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(2)
}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			fail(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	var manifests []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&manifests); err != nil {
		fail(err)
	}
	code := 0
	for _, manifest := range manifests {
		var about named
		if err := json.Unmarshal(manifest, &about); err != nil {
			fail(err)
		}
		kind := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind)
		if _, _, err := decoder.Decode(manifest, &kind, nil); err != nil {
			fmt.Printf("%s %s: %v\n", about.Kind, about.Metadata.Name, err)
			code = 1
		}
	}
	os.Exit(code)
}
