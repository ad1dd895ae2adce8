"""What a class takes home: scenes as one HTML file that needs no network, exercises, tensors and a notebook.

scene (a page in one state)  ->  visit.py: what the page draws     ->  hand_out.py  ->  one HTML file
                                 its translation by the model      ->  exercises.py ->  a sheet with answers apart
                                                                   ->  Trace        ->  .npz, notebook
"""
