// Command protobuf-schema prints which field of which built-in kind has which number on the wire, and when JSON shows it:
// what the struct tags of k8s.io/api say, in the notation of packages/controller/src/protobuf/message-schema.ts.
package main

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var served = []func(*runtime.Scheme) error{
	admissionregistrationv1.AddToScheme,
	appsv1.AddToScheme,
	autoscalingv1.AddToScheme,
	autoscalingv2.AddToScheme,
	batchv1.AddToScheme,
	certificatesv1.AddToScheme,
	coordinationv1.AddToScheme,
	corev1.AddToScheme,
	discoveryv1.AddToScheme,
	eventsv1.AddToScheme,
	flowcontrolv1.AddToScheme,
	networkingv1.AddToScheme,
	nodev1.AddToScheme,
	policyv1.AddToScheme,
	rbacv1.AddToScheme,
	resourcev1.AddToScheme,
	schedulingv1.AddToScheme,
	storagev1.AddToScheme,
}

// What is read at any time, whatever kind is asked for.
var always = []any{metav1.ListMeta{}, metav1.Status{}}

func main() {
	scheme := runtime.NewScheme()
	for _, add := range served {
		if err := add(scheme); err != nil {
			fail("%v", err)
		}
	}
	schema := schema{messages: map[reflect.Type]string{}}
	for _, value := range always {
		schema.reach(reflect.TypeOf(value))
	}
	var kinds []string
	types := scheme.AllKnownTypes()
	for gvk, goType := range types {
		list, listed := types[gvk.GroupVersion().WithKind(gvk.Kind+"List")]
		if !listed || strings.HasSuffix(goType.PkgPath(), "meta/v1") || gvk.Kind == "ComponentStatus" {
			continue // the last cannot be watched
		}
		checkList(list)
		schema.reach(goType)
		kinds = append(kinds, fmt.Sprintf("%s %s %s", gvk.GroupVersion(), gvk.Kind, nameOf(goType)))
	}
	slices.Sort(kinds)
	lines := make([]string, 0, len(schema.messages))
	for _, line := range schema.messages {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(kinds, "\n"))
	fmt.Println()
	fmt.Println(strings.Join(lines, "\n"))
}

// Lists are read without a schema: their metadata is field 1 and their items are field 2.
func checkList(list reflect.Type) {
	for name, number := range map[string]string{"ListMeta": "1", "Items": "2"} {
		field, found := list.FieldByName(name)
		if !found || !strings.HasPrefix(field.Tag.Get("protobuf"), "bytes,"+number+",") {
			fail("%s.%s is not field %s", list, name, number)
		}
	}
}

// schema has a line for each message that was reached.
type schema struct {
	messages map[reflect.Type]string
}

func (schema schema) reach(goType reflect.Type) {
	if _, known := schema.messages[goType]; known {
		return
	}
	schema.messages[goType] = ""
	line := []string{nameOf(goType)}
	for index := range goType.NumField() {
		if text := schema.field(goType, goType.Field(index)); text != "" {
			line = append(line, text)
		}
	}
	schema.messages[goType] = strings.Join(line, " ")
}

var wire = regexp.MustCompile(`^(?:bytes|varint),(\d+)`)

// field describes one field, and reaches the messages in it: `1?replicas:int`.
func (schema schema) field(of reflect.Type, field reflect.StructField) string {
	tag, tagged := field.Tag.Lookup("protobuf")
	if !tagged {
		if field.Type != reflect.TypeFor[metav1.TypeMeta]() {
			fail("%s %s is not on the wire", field.Name, field.Type)
		}
		return "" // of the envelope
	}
	match := wire.FindStringSubmatch(tag)
	if match == nil {
		fail("%s has the tag %s", field.Name, tag)
	}
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	omit := strings.Split(options, ",")
	kind := strings.Replace(schema.kindOf(field.Type), packageOf(of)+".", ".", 1)
	if slices.Contains(omit, "inline") {
		return match[1] + "<:" + kind
	}
	if name == "" || name == "-" {
		fail("%s has no name in JSON", field.Name)
	}
	return match[1] + ruleOf(field.Type, omit) + name + ":" + kind
}

// ruleOf says when JSON shows the field:
//
//	=  always; null where it is not on the wire, or zero
//	!  always; null where it is not on the wire
//	*  where it is on the wire
//	?  where it is not zero
func ruleOf(goType reflect.Type, omit []string) string {
	omitted := slices.Contains(omit, "omitempty")
	if slices.Contains(omit, "omitzero") && goType.Kind() == reflect.Struct {
		if goType != reflect.TypeFor[metav1.Time]() {
			fail("%s is left out where all of it is zero: nobody has taught the reader to look", goType)
		}
		return "?"
	}
	switch {
	case goType.Kind() == reflect.Pointer && omitted:
		return "*"
	case goType.Kind() == reflect.Pointer:
		return "!"
	case goType.Kind() == reflect.Struct:
		return "=" // never empty
	case omitted:
		return "?"
	}
	return "="
}

var simple = map[string]string{
	"string":               "string",
	"bool":                 "bool",
	"int32":                "int",
	"int64":                "int",
	"[]uint8":              "bytes",
	"v1.Time":              "Time",
	"v1.MicroTime":         "MicroTime",
	"v1.FieldsV1":          "Json",
	"runtime.RawExtension": "Json",
	"resource.Quantity":    "Quantity",
	"intstr.IntOrString":   "IntOrString",
}

// kindOf names what a value is: a message by its name, a list with [] before its elements, a map with {} before its values.
func (schema schema) kindOf(goType reflect.Type) string {
	if kind, known := simple[goType.String()]; known {
		return kind
	}
	for _, method := range []string{"MarshalJSON", "UnmarshalJSON"} {
		if _, custom := reflect.PointerTo(goType).MethodByName(method); custom {
			fail("%s has a JSON of its own", goType)
		}
	}
	_, isMessage := reflect.PointerTo(goType).MethodByName("Marshal")
	switch goType.Kind() {
	case reflect.Pointer:
		return schema.kindOf(goType.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Slice:
		if goType.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if isMessage { // a list that may be the value of a map
			if goType.Elem().Kind() != reflect.String {
				fail("%s is a list of others than strings", goType)
			}
			return "Strings"
		}
		return "[]" + schema.kindOf(goType.Elem())
	case reflect.Map:
		if goType.Key().Kind() != reflect.String {
			fail("%s has keys that are no strings", goType)
		}
		return "{}" + schema.kindOf(goType.Elem())
	case reflect.Struct:
		schema.reach(goType)
		return nameOf(goType)
	}
	fail("nobody knows what %s is in JSON", goType)
	return ""
}

// nameOf is `core/v1.Pod`, and `.Pod` in messages of the same package.
func nameOf(goType reflect.Type) string {
	return packageOf(goType) + "." + goType.Name()
}

// packageOf is `core/v1`.
func packageOf(goType reflect.Type) string {
	parts := strings.Split(goType.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/")
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
