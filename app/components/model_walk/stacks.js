// The names of the stacks, and of the output after them.

import { _ } from "../shared/language.js";

export const STACKS = { encoder: _("encoder"), decoder: _("decoder"), output: _("output") };
