"""Runs in the environment that docker/tensorpack/install.sh makes, and prints JSON.

    python tensorpack_probe.py PROGRAM_FOLDER OUTPUT ARGUMENT...

It takes the adapter's arguments as TensorPack's train.py does, reads the data, builds the graph of
training, and evaluates the truth itself. What TensorPack's own printer of metrics prints goes to
stdout; what was found goes to OUTPUT.
"""

import json
import multiprocessing
import sys
from pathlib import Path


def main(program, output, arguments):
    sys.path.insert(0, program)
    import horovod.tensorflow as hvd
    import tensorflow as tf
    from config import config as cfg
    from config import finalize_configs
    from dataset import register_coco

    # As train.py: what follows --config, up to the next option.
    words = arguments[arguments.index("--config") + 1 :]
    end = next((at for at, word in enumerate(words) if word.startswith("--")), len(words))
    cfg.update_args(words[:end])
    register_coco(cfg.DATA.BASEDIR)
    hvd.init()
    finalize_configs(is_training=True)
    found = {
        "tensorflow": tf.__version__,
        "world_size": hvd.size(),
        "schedule": list(cfg.TRAIN.LR_SCHEDULE),
        "steps_per_epoch": cfg.TRAIN.STEPS_PER_EPOCH,
        "data": read_data(),
        "graph": build_graph(),
        "evaluation": evaluate(cfg),
    }
    # Numbers that tell the losses apart.
    losses = {name: 0.5 + number for number, name in enumerate(found["graph"]["scalars"])}
    found["losses"] = losses
    print_scalars({**losses, **found["evaluation"]})
    Path(output).write_text(json.dumps(found), encoding="utf-8")


def read_data():
    from data import get_train_dataflow

    dataflow = get_train_dataflow()
    dataflow.reset_state()
    points = iter(dataflow)
    return [
        {name: [str(value.dtype), list(value.shape)] for name, value in next(points).items()}
        for _ in range(2)
    ]


def build_graph():
    """Build it as the trainer does for one GPU, but run nothing."""
    import tensorflow.compat.v1 as tfv1
    from modeling.generalized_rcnn import ResNetFPNModel
    from tensorpack.tfutils.summary import MOVING_SUMMARY_OPS_KEY
    from tensorpack.tfutils.tower import TrainTowerContext

    with tfv1.Graph().as_default() as graph:
        model = ResNetFPNModel()
        inputs = [
            tfv1.placeholder(spec.dtype, shape=spec.shape, name=spec.name)
            for spec in model.get_input_signature()
        ]
        tfv1.train.get_or_create_global_step()
        with TrainTowerContext(""):
            cost = model.build_graph(*inputs)
        gradients = model.get_optimizer().compute_gradients(cost)
        averaged = graph.get_collection(MOVING_SUMMARY_OPS_KEY)
        assert averaged, "no moving averages"
        return {
            "cost": cost.name,
            "trained": sum(gradient is not None for gradient, _ in gradients),
            "scalars": sorted(scalars_of(graph)),
        }


def scalars_of(graph):
    """Yield the names of the scalars that the trainer prints at the end of an epoch.

    As tensorpack/callbacks/monitor.py does, without the ending that the operation needs.
    """
    for op in graph.get_operations():
        if op.type == "ScalarSummary":
            tag = op.inputs[0].op.node_def.attr["value"].tensor.string_val[0].decode()
            yield tag[: -len("-summary")] if tag.endswith("-summary") else tag


def evaluate(cfg):
    """Evaluate the truth as if the model had found it, with TensorPack's own data set.

    A result has a box by its corners and a class by its number in the model, as in eval.py.
    """
    from dataset.dataset import DatasetRegistry

    scores = {}
    for name in cfg.DATA.VAL:
        dataset = DatasetRegistry.get(name)
        results = []
        for found in dataset.coco.dataset["annotations"]:
            if found["iscrowd"]:
                continue
            x, y, width, height = found["bbox"]
            mask = dataset.coco.annToRLE(found)
            category = found["category_id"]
            results.append(
                {
                    "image_id": found["image_id"],
                    "category_id": dataset.COCO_id_to_category_id.get(category, category),
                    "bbox": [x, y, x + width, y + height],
                    "segmentation": {**mask, "counts": mask["counts"].decode()},
                    "score": 1.0,
                }
            )
        for score, value in dataset.eval_inference_results(results).items():
            # As EvalCallback names it.
            scores[f"{name}-{score}"] = float(value)
    return scores


def print_scalars(values):
    """Print them as TensorPack does at the end of an epoch."""
    from tensorpack.callbacks.monitor import ScalarPrinter

    printer = ScalarPrinter()
    for name, value in values.items():
        printer.process_scalar(name, value)
    printer._trigger()


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
