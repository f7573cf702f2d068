# A service that is out of order: an answer with `error` is a failed attempt.
echo '{"error": "no dictionary for this language"}'
