// One world for both: the cases that read count what it has at the start, so they come first.
import './_read-tools.ts';
import './_write-tools.ts';
