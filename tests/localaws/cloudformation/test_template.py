"""What a template says before anything is made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto.cloudformation.exceptions import ValidationError

from localaws.cloudformation.template import check_types, creation_order, imports


def resource(**properties: object) -> dict[str, object]:
    return {"Type": "AWS::Test::Thing", "Properties": properties}


@pytest.mark.parametrize(
    "reference",
    [
        {"Ref": "B"},
        {"Fn::GetAtt": ["B", "Arn"]},
        {"Fn::GetAtt": "B.Arn"},
        {"Fn::Sub": "x-${B.Arn}-${AWS::Region}-${!Literal}"},
        {"Fn::Sub": ["${Local}", {"Local": {"Ref": "B"}}]},
        {"Fn::If": ["Condition", {"Ref": "AWS::NoValue"}, [{"Fn::Join": [",", [{"Ref": "B"}]]}]]},
    ],
)
def test_reference_of_any_form_comes_first(reference: dict[str, object]) -> None:
    template = {"Resources": {"A": resource(Value=reference), "B": resource()}}
    assert creation_order(template) == ["B", "A"]


def test_depends_on_comes_first() -> None:
    template = {"Resources": {"A": {**resource(), "DependsOn": "B"}, "B": resource()}}
    assert creation_order(template) == ["B", "A"]


def test_circle_is_refused_with_its_members() -> None:
    template = {"Resources": {"A": resource(Value={"Ref": "B"}), "B": resource(Value={"Ref": "A"})}}
    with pytest.raises(ValidationError, match=r"Circular dependency between resources: \[[AB], "):
        creation_order(template)


def test_reference_to_nothing_is_refused_with_both_names() -> None:
    template = {"Resources": {"A": resource(Value={"Ref": "Missing"})}}
    with pytest.raises(ValidationError, match=r"\[Missing\] .* \(A\)"):
        creation_order(template)


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 12), st.sets(st.integers(0, 12), max_size=4)))
def test_every_resource_follows_those_it_refers_to(graph: dict[int, set[int]]) -> None:
    # Only references to smaller numbers, so that there is no circle.
    resources = {
        f"R{name}": resource(
            Values=[{"Ref": f"R{to}"} for to in targets if to < name and to in graph]
        )
        for name, targets in graph.items()
    }
    order = creation_order({"Resources": resources})
    assert sorted(order) == sorted(resources)
    for name, targets in graph.items():
        for to in targets:
            if to < name and to in graph:
                assert order.index(f"R{to}") < order.index(f"R{name}")


def test_unknown_types_are_named_with_their_resources() -> None:
    template = {
        "Resources": {
            "Known": {"Type": "AWS::S3::Bucket"},
            "Rocket": {"Type": "AWS::Space::Rocket"},
            "Custom": {"Type": "Custom::Thing"},
        }
    }
    with pytest.raises(ValidationError) as refused:
        check_types(template, lambda name: name == "AWS::S3::Bucket")
    assert "Rocket (AWS::Space::Rocket), Custom (Custom::Thing)" in str(refused.value.message)


def test_imports_are_found_at_any_depth() -> None:
    template = {"Resources": {"A": resource(List=[{"Fn::ImportValue": "one"}])}}
    assert list(imports(template)) == ["one"]
