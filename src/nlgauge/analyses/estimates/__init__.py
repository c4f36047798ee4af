"""What people would say of all outputs, from their labels of few and a judge's scores of all."""
