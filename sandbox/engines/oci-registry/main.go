// An OCI registry in memory, on loopback only.
//
// It also answers proxy requests ("GET http://ghcr.io/v2/..."): with HTTP_PROXY pointed here, the Image Factory keeps
// the public names of its images and still finds every one of them in this registry. CONNECT is refused at once, so
// nothing is ever tunnelled to anywhere else.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	address := flag.String("address", "127.0.0.1:0", "loopback address to listen on")
	flag.Parse()

	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		log.Fatalf("refusing to listen on %s: it is not a loopback address", listener.Addr())
	}

	images := registry.New(
		registry.WithReferrersSupport(true),
		registry.Logger(log.New(os.Stderr, "", log.LstdFlags)),
	)
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodConnect {
				http.Error(w, "this registry opens no tunnels", http.StatusForbidden)
				return
			}
			images.ServeHTTP(w, r)
		}),
	}
	log.Printf("listening on %s", listener.Addr())
	log.Fatal(server.Serve(listener))
}
