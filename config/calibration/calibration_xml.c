/*
 * Calibration in OpenCV's XML (cv::FileStorage): reads the keys and matrices of its YAML format into a YAML
 * document.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <expat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/calibration/calibration_yaml.h"

#define DEPTH_MAX 8
#define BLANKS " \t\r\n"

/* An element that is still open. */
struct level {
	/* YAML nodes; 0: not created yet. value: node of the content of an element with children */
	int key, value;
	size_t text; /* start of its text in struct reader.text, bytes */
	bool list;   /* the children of the element are named "_" */
	size_t line; /* line in which the element begins, from 0 */
};

struct reader {
	XML_Parser parser;
	yaml_document_t doc;
	struct level level[DEPTH_MAX];
	int depth;
	char *text; /* text of the open elements; as large as the file */
	size_t used;
	const char *fault; /* first fault; NULL: none */
};

static void fail(struct reader *r, const char *fault)
{
	if (!r->fault)
		r->fault = fault;
	XML_StopParser(r->parser, XML_FALSE);
}

static int mark(struct reader *r, int node)
{
	if (!node)
		fail(r, "not enough memory");
	else
		yaml_document_get_node(&r->doc, node)->start_mark.line =
			r->level[r->depth ? r->depth - 1 : 0].line;
	return node;
}

static int add_scalar(struct reader *r, const char *text, size_t length)
{
	/* libyaml before 0.2.5 takes no const pointer, but does not change the text */
	return mark(r, yaml_document_add_scalar(&r->doc, NULL, (yaml_char_t *)(uintptr_t)text, (int)length,
						YAML_PLAIN_SCALAR_STYLE));
}

/* Creates the node of an element with children. The outermost element is the document. */
static int open_value(struct reader *r, struct level *l, bool list)
{
	if (!l->value) {
		l->list = list;
		l->value = mark(r, list ? yaml_document_add_sequence(&r->doc, NULL, YAML_FLOW_SEQUENCE_STYLE)
					: yaml_document_add_mapping(&r->doc, NULL, YAML_BLOCK_MAPPING_STYLE));
	}
	return l->list == list ? l->value : 0;
}

static void XMLCALL on_start(void *to, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = to;
	struct level *l;

	if (r->depth == DEPTH_MAX) {
		fail(r, "elements are nested too deeply");
		return;
	}
	if (r->depth && !open_value(r, &r->level[r->depth - 1], !strcmp(name, "_"))) {
		fail(r, "elements with and without a name beside each other");
		return;
	}
	l = &r->level[r->depth++];
	*l = (struct level){.text = r->used, .line = XML_GetCurrentLineNumber(r->parser) - 1};
	if (r->depth > 1)
		l->key = add_scalar(r, name, strlen(name));
	else
		(void)open_value(r, l, false);
}

/* Creates the node of an element without children. Several words, or any words if `list`, become a list. */
static int value_of_text(struct reader *r, const char *text, bool list)
{
	const char *at = text + strspn(text, BLANKS);
	size_t length = strlen(at);
	int node;

	while (length && strchr(BLANKS, at[length - 1]))
		length--;
	if (length > 1 && *at == '"' && at[length - 1] == '"')
		return add_scalar(r, at + 1, length - 2);
	if (!list && strcspn(at, BLANKS) >= length)
		return add_scalar(r, at, length);
	node = mark(r, yaml_document_add_sequence(&r->doc, NULL, YAML_FLOW_SEQUENCE_STYLE));
	for (; node && *at && !r->fault; at += strspn(at, BLANKS)) {
		int item = add_scalar(r, at, strcspn(at, BLANKS));

		if (!item || !yaml_document_append_sequence_item(&r->doc, node, item))
			fail(r, "not enough memory");
		at += strcspn(at, BLANKS);
	}
	return node;
}

static void XMLCALL on_end(void *to, const XML_Char *name)
{
	struct reader *r = to;
	struct level *l, *above;
	int done;

	if (r->fault || r->depth == 1)
		return;
	l = &r->level[r->depth - 1];
	above = l - 1;
	r->text[r->used] = 0;
	if (!l->value)
		l->value = value_of_text(r, r->text + l->text, !strcmp(name, "data"));
	r->used = l->text;
	r->depth--;
	if (!l->value)
		return;
	done = above->list ? yaml_document_append_sequence_item(&r->doc, above->value, l->value)
			   : yaml_document_append_mapping_pair(&r->doc, above->value, l->key, l->value);
	if (!done)
		fail(r, "not enough memory");
}

static void XMLCALL on_text(void *to, const XML_Char *text, int length)
{
	struct reader *r = to;

	memcpy(r->text + r->used, text, (size_t)length);
	r->used += (size_t)length;
}

/* Refuses a document type: entities could expand to very long text. OpenCV writes no document type. */
static void XMLCALL on_doctype(void *to, const XML_Char *name, const XML_Char *system, const XML_Char *public,
			       int internal)
{
	fail(to, "a document type (DOCTYPE), which calibrations do not have");
}

static int parse(struct reader *r, const char *text, struct sx_why *why)
{
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	if (XML_Parse(r->parser, text, (int)strlen(text), XML_TRUE) == XML_STATUS_OK && !r->fault)
		return 0;
	return sx_calibration_refuse(why, "line %lu: not XML of OpenCV: %s",
				     XML_GetCurrentLineNumber(r->parser),
				     r->fault ? r->fault : XML_ErrorString(XML_GetErrorCode(r->parser)));
}

int sx_calibration_xml(struct sx_calibration_raw *raw, const char *text, struct sx_why *why)
{
	struct reader r = {.parser = XML_ParserCreate("UTF-8"), .text = malloc(strlen(text) + 1)};
	struct sx_yaml y = {.doc = &r.doc, .format = "OpenCV XML", .why = why};
	int result = -ENOMEM;

	if (r.parser && r.text && yaml_document_initialize(&r.doc, NULL, NULL, NULL, 1, 1)) {
		result = parse(&r, text, why);
		y.root = yaml_document_get_root_node(&r.doc);
		if (result == 0)
			result = sx_calibration_document(raw, &y);
		yaml_document_delete(&r.doc);
	}
	if (r.parser)
		XML_ParserFree(r.parser);
	free(r.text);
	return result;
}
