// A test that hangs must not outlive a run that was interrupted: its process notices that the run is gone, and goes as well.
process.once('disconnect', () => process.exit(1));
