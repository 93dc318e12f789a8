"""Documents: Markdown and transcripts read into units with a subject, a form and a block, and edited by bytes."""
