package composite

import "google.golang.org/protobuf/types/known/structpb"

// Paused is true while Crossplane drops events of a composite because there were too many, changes of its own spec among them (condition
// Responsive, circuit breaker of Crossplane 2.4). Nothing but the time then says that there is something to do.
func Paused(xr *structpb.Struct) bool {
	for _, c := range xr.GetFields()["status"].GetStructValue().GetFields()["conditions"].GetListValue().GetValues() {
		if f := c.GetStructValue().GetFields(); f["type"].GetStringValue() == "Responsive" {
			return f["status"].GetStringValue() == "False"
		}
	}
	return false
}
