package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ruled is a schema with one rule.
func ruled(message string, s apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	s.XValidations = apiextensionsv1.ValidationRules{{Message: message}}
	return s
}

func TestAPageHasTheSentencesOfEveryDepth(t *testing.T) {
	leaf := ruled("of a leaf", apiextensionsv1.JSONSchemaProps{})
	object := ruled("of an object", apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"leaf": leaf}})
	ofMap := ruled("of a map", apiextensionsv1.JSONSchemaProps{
		AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &object}})
	ofList := ruled("of a list", apiextensionsv1.JSONSchemaProps{Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &object}})
	var rules []string
	collectRules(apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": ofMap, "b": ofList}}, &rules)
	require.Equal(t, []string{"of a map", "of an object", "of a leaf", "of a list"}, rules, "each once")
}
