-- New requests take the room of removed ones, so after 13 months every range of blocks had old and new ones: this index led to all of them.
DROP INDEX "served_request_started_at_idx";
